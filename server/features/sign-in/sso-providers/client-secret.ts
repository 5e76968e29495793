import type { Vault } from "#server/platform/vault";

/** Bound to its provider: copied into another provider's row it cannot be decrypted. */
const contextOf = (providerId: string) => `sso.client-secret:${providerId}`;

/** The client secret as it is stored: encrypted and never returned (docs/conventions.md, "Secrets"). */
export const sealClientSecret = (vault: Vault, providerId: string, secret: string): string =>
  vault.seal(secret, contextOf(providerId));

/** Null = the provider has none. Throws when it was sealed under another server's key. */
export const openClientSecret = (
  vault: Vault,
  provider: { id: string; clientSecretSealed: string | null },
): string | null =>
  provider.clientSecretSealed === null ? null : vault.open(provider.clientSecretSealed, contextOf(provider.id));
