import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";

type Owner = Pick<ProviderRow, "orgId" | "partnerId">;

/** Path that starts the sign-in; without a host, so that no `Host` header ends up in a link. */
export const loginUrlOf = ({ orgId, partnerId }: Owner): string =>
  orgId === null ? `/api/v1/sso/login/partner/${partnerId}` : `/api/v1/sso/login/${orgId}`;

/** The button of a login page; null for a provider that cannot sign anyone in. */
export const buttonOf = (provider: ProviderRow | undefined) =>
  provider?.type === "oidc"
    ? { providerName: provider.name, loginUrl: loginUrlOf(provider), enforceSSO: provider.enforceSso }
    : null;
