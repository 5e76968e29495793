import type { Json } from "#server/db/column-types";
import type { PartnersTable } from "#server/db/tables/tenancy";

/** Keys that are merged one level deeper (docs/tenancy.md, "Partner settings"). */
const deeper: readonly string[] = ["businessHours", "contact", "security"];

/** Kept by the server: `PATCH /orgs/organizations/order` is the only writer. */
const serverOwned: readonly string[] = ["organizationOrder"];

/** Whether nothing is left of a change of settings without what the server keeps itself. */
export const isOnlyServerOwned = (change: Json): boolean =>
  Object.keys(change).length > 0 && Object.keys(change).every((name) => serverOwned.includes(name));

/**
 * The stored settings with a change applied: null removes a key, an omitted key stays
 * (docs/tenancy.md, "Partner settings").
 */
export function mergeSettings(stored: Json, change: Json): Json {
  const allowed = Object.fromEntries(Object.entries(change).filter(([name]) => !serverOwned.includes(name)));
  return overlay(stored, allowed, (name, value) =>
    deeper.includes(name) ? overlay(asObject(stored[name]), asObject(value), (_, inner) => inner) : value,
  );
}

function overlay(stored: Json, change: Json, next: (name: string, value: unknown) => unknown): Json {
  const kept = Object.entries(stored).filter(([name]) => change[name] === undefined);
  const given = Object.entries(change)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => [name, next(name, value)] as const);
  return Object.fromEntries([...kept, ...given]);
}

const asObject = (value: unknown): Json => (value !== null && typeof value === "object" ? (value as Json) : {});

type ServiceManagement = Pick<PartnersTable, "serviceManagementMode" | "serviceManagementPsaConnectionId">;

/** `external` needs a connection, other modes take none (docs/tenancy.md, "Service management"). */
export function servicePairProblem(
  merged: ServiceManagement,
): "PSA_CONNECTION_REQUIRED" | "PSA_CONNECTION_NOT_ALLOWED" | undefined {
  const connected = merged.serviceManagementPsaConnectionId !== null;
  if (merged.serviceManagementMode === "external") return connected ? undefined : "PSA_CONNECTION_REQUIRED";
  return connected ? "PSA_CONNECTION_NOT_ALLOWED" : undefined;
}
