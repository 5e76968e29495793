import type { Vault } from "#server/platform/vault";

export interface Header {
  key: string;
  value: string;
}

/** What of a webhook is stored encrypted, bound to its row. */
export interface Sealed {
  readonly urlSealed: string;
  readonly secretSealed: string;
  readonly headersSealed: string | null;
}

const contextOf = (part: "url" | "secret" | "headers", id: string) => `webhook.${part}:${id}`;

export const sealUrl = (vault: Vault, id: string, url: string) => vault.seal(url, contextOf("url", id));
export const sealSecret = (vault: Vault, id: string, secret: string) => vault.seal(secret, contextOf("secret", id));
export const sealHeaders = (vault: Vault, id: string, headers: readonly Header[]) =>
  headers.length === 0 ? null : vault.seal(JSON.stringify(headers), contextOf("headers", id));

export const openUrl = (vault: Vault, { id, urlSealed }: { id: string; urlSealed: string }): string =>
  vault.open(urlSealed, contextOf("url", id));
export const openSecret = (vault: Vault, { id, secretSealed }: { id: string; secretSealed: string }): string =>
  vault.open(secretSealed, contextOf("secret", id));
export const openHeaders = (
  vault: Vault,
  { id, headersSealed }: { id: string; headersSealed: string | null },
): Header[] =>
  headersSealed === null ? [] : (JSON.parse(vault.open(headersSealed, contextOf("headers", id))) as Header[]);
