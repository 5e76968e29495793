import type { Selectable } from "kysely";
import { holdCredential } from "#server/access/write-credentials";
import type { PartnerServicePrincipalsTable } from "#server/db/tables/credentials";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";

export type PrincipalRow = Selectable<PartnerServicePrincipalsTable>;

/** Partner scope implies the partner, system scope names it (docs/conventions.md, "Full partner access"). */
export async function partnerFor(call: Call, named: string | undefined, db: Reader): Promise<string> {
  const who = user(call);
  if (who.scope !== "system") {
    if (who.partnerId === null) throw problem("PARTNER_CONTEXT_REQUIRED");
    if (named !== undefined && named !== who.partnerId) throw problem("PARTNER_ACCESS_DENIED");
    return who.partnerId;
  }
  if (named === undefined) throw problem("PARTNER_ID_REQUIRED");
  const partner = await db.selectFrom("partners").select("id").where("id", "=", named).executeTakeFirst();
  if (!partner) throw problem("NOT_FOUND");
  return named;
}

/** NOT_FOUND, also for another partner's principal. */
export async function findPrincipal(db: Reader, id: string): Promise<PrincipalRow> {
  const row = await db.selectFrom("partnerServicePrincipals").selectAll().where("id", "=", id).executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  return row;
}

/** The principal, held until the transaction ends and named in its audit entry. */
export async function holdPrincipal(call: Call, tx: Tx, id: string): Promise<PrincipalRow> {
  await findPrincipal(tx, id);
  await holdCredential(call, "partnerServicePrincipals", id);
  const principal = await findPrincipal(tx, id);
  call.audit.note({ resource: { id, name: principal.name }, owner: { partnerId: principal.partnerId } });
  return principal;
}

const keyColumns = [
  "id",
  "principalId",
  "name",
  "keyPrefix",
  "status",
  "expiresAt",
  "rateLimit",
  "lastUsedAt",
  "revokedAt",
  "rotatedFromId",
  "createdAt",
] as const;

/** Principals as they are shown, with the organizations chosen for them and their keys, newest first. */
export async function shownPrincipals(db: Reader, rows: readonly PrincipalRow[]) {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const orgs = await db
    .selectFrom("partnerServicePrincipalOrgs")
    .select(["principalId", "orgId"])
    .where("principalId", "in", ids)
    .orderBy("orgId")
    .execute();
  const keys = await db
    .selectFrom("partnerServicePrincipalKeys")
    .select(keyColumns)
    .where("principalId", "in", ids)
    .orderBy("createdAt", "desc")
    .orderBy("id", "desc")
    .execute();
  return rows.map((row) => ({
    ...row,
    orgIds: orgs.filter(({ principalId }) => principalId === row.id).map(({ orgId }) => orgId),
    keys: keys
      .filter(({ principalId }) => principalId === row.id)
      .map(({ principalId: _, ...key }) => ({
        ...key,
        rateLimit: Math.min(key.rateLimit ?? row.rateLimit, row.rateLimit),
      })),
  }));
}

export async function shownPrincipal(db: Reader, id: string) {
  const [shown] = await shownPrincipals(db, [await findPrincipal(db, id)]);
  if (!shown) throw problem("NOT_FOUND");
  return shown;
}
