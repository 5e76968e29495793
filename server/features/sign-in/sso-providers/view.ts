import type { ProviderRow } from "./find-active-provider.ts";

/** A provider as it is shown: of its secret no more than that there is one. */
export function shownProvider(row: ProviderRow) {
  const { clientSecretSealed, requestedScopes, enforceSso, ...shown } = row;
  return {
    ...shown,
    ownerScope: row.orgId === null ? ("partner" as const) : ("organization" as const),
    hasClientSecret: clientSecretSealed !== null,
    scopes: requestedScopes,
    enforceSSO: enforceSso,
  };
}
