import { getWritableOrg, refuseSiteRestricted } from "#server/access/org-access";
import { held } from "#server/db/dialect/locks";
import type { Reader, Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { foldName } from "../core/decision/fold.ts";

export const groupColumns = ["id", "orgId", "name", "description", "signers", "createdAt", "updatedAt"] as const;

/** A group as the API shows it. */
export const shownSignerGroup = (db: Reader, id: string) =>
  db.selectFrom("signerGroups").select(groupColumns).where("id", "=", id).executeTakeFirstOrThrow();

/** A group that this caller may change, held until the transaction ends; named in the audit entry. */
export async function holdSignerGroup(call: Call, tx: Tx, id: string) {
  const seen = () => tx.selectFrom("signerGroups").select(groupColumns).where("id", "=", id).executeTakeFirst();
  const before = await seen();
  if (!before) throw problem("NOT_FOUND");
  await call.asSystem("write rules of elevations", (all) => {
    const row = all.selectFrom("signerGroups").select("id").where("id", "=", id).where("orgId", "=", before.orgId);
    return held(row, call.services.store.dialect).execute();
  });
  const group = await seen();
  if (!group) throw problem("NOT_FOUND");
  call.audit.note({ resource: { id, name: group.name }, owner: { orgId: group.orgId } });
  refuseSiteRestricted(call);
  await getWritableOrg(call, group.orgId, tx);
  return group;
}

/** Rules that name a group; whoever changes one is not confined to sites, and sees them all. */
export const rulesNaming = (tx: Tx, { id, orgId }: { id: string; orgId: string }) =>
  tx
    .selectFrom("pamRules")
    .select(["id", "name"])
    .where("orgId", "=", orgId)
    .where("matchSignerGroupId", "=", id)
    .orderBy("id")
    .execute();

/** Signers as they were first written, each once. */
export const distinct = (signers: readonly string[]): string[] =>
  [...new Map(signers.toReversed().map((signer) => [foldName(signer), signer])).values()].reverse();

export const keyOfName = (name: string): string => name.toLowerCase();
