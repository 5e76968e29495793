import type { ProviderRow } from "./find-active-provider.ts";

/** A provider as the API shows it: of its secret only whether it exists. */
export function shownProvider(row: ProviderRow) {
  const { clientSecretSealed, requestedScopes, enforceSso, announced: _, ...shown } = row;
  return {
    ...shown,
    ownerScope: row.orgId === null ? ("partner" as const) : ("organization" as const),
    hasClientSecret: clientSecretSealed !== null,
    scopes: requestedScopes,
    enforceSSO: enforceSso,
  };
}
