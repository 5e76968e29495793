import type { ExpressionBuilder } from "kysely";
import { type AccessibleOrg, getWritableOrg } from "#server/access/org-access";
import { holdCredential } from "#server/access/write-credentials";
import { held } from "#server/db/dialect/locks";
import type { Database } from "#server/db/tables";
import type { Reader, Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

export const servicePrincipalColumns = [
  "servicePrincipals.id",
  "servicePrincipals.orgId",
  "servicePrincipals.name",
  "servicePrincipals.scopes",
  "servicePrincipals.status",
  "servicePrincipals.createdBy",
  "servicePrincipals.lastUpdatedBy",
  "servicePrincipals.createdAt",
  "servicePrincipals.updatedAt",
] as const;

/** NOT_FOUND, also for another tenant's principal. */
export async function findRow(db: Reader, id: string) {
  const row = await db
    .selectFrom("servicePrincipals")
    .innerJoin("organizations", "organizations.id", "servicePrincipals.orgId")
    .select(servicePrincipalColumns)
    .where("servicePrincipals.id", "=", id)
    .executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  return row;
}

export async function getServicePrincipal(call: Pick<Call, "clock">, db: Reader, id: string) {
  const row = await findRow(db, id);
  const [shown] = await withCurrentKeys(call, db, [row]);
  if (!shown) throw problem("NOT_FOUND");
  return shown;
}

/** Adds each principal's active key, with one query for all of them. */
export async function withCurrentKeys<R extends { id: string }>(call: Pick<Call, "clock">, db: Reader, rows: R[]) {
  const now = call.clock.now();
  const keys =
    rows.length === 0
      ? []
      : await db
          .selectFrom("apiKeys")
          .select(["id", "principalId", "keyPrefix", "createdAt", "lastUsedAt"])
          .where(
            "principalId",
            "in",
            rows.map((row) => row.id),
          )
          .where((eb) => active(eb, now))
          .execute();
  const byPrincipal = new Map(keys.map(({ principalId, ...key }) => [principalId, key]));
  return rows.map((row) => ({ ...row, currentKey: byPrincipal.get(row.id) ?? null }));
}

const active = (eb: ExpressionBuilder<Database, "apiKeys">, now: string) =>
  eb.and([eb("status", "=", "active"), eb.or([eb("expiresAt", "is", null), eb("expiresAt", ">", now)])]);

/**
 * The principal, held until the transaction ends and named in its audit entry. The organization is held before it:
 * one that is being closed waits for the key made here, and then revokes it with the others.
 */
export async function holdServicePrincipal(call: Call, tx: Tx, id: string) {
  const { dialect } = call.services.store;
  const { orgId } = await findRow(tx, id);
  await held(tx.selectFrom("organizations").select("id").where("id", "=", orgId), dialect).execute();
  await holdCredential(call, "servicePrincipals", id);
  const principal = await findRow(tx, id);
  call.audit.note({ resource: { id, name: principal.name }, owner: { orgId } });
  return principal;
}

/** The same, for changes that give power: the organization is open to writing and the principal active. */
export async function holdActivePrincipal(call: Call, tx: Tx, id: string) {
  const principal = await holdServicePrincipal(call, tx, id);
  const org: AccessibleOrg = await getWritableOrg(call, principal.orgId, tx);
  if (principal.status !== "active") throw problem("INVALID_STATE", { details: { status: principal.status } });
  return { principal, org };
}
