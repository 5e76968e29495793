import { getWritableOrg } from "#server/access/org-access";
import { refuseForeignSite, unseen } from "#server/access/site-access";
import { held, lockText, shared } from "#server/db/dialect/locks";
import type { PamRule } from "#server/db/tables/pam-rules";
import type { Reader, Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

/** A rule that this caller may change, held until the transaction ends; named in the audit entry. */
export async function holdRule(call: Call, tx: Tx, id: string): Promise<PamRule> {
  const seen = () => tx.selectFrom("pamRules").selectAll().where("id", "=", id).executeTakeFirst();
  const before = await seen();
  if (!before) throw await unseen(call, "pamRules", id);
  await call.asSystem("write rules of elevations", (all) => {
    const row = all.selectFrom("pamRules").select("id").where("id", "=", id).where("orgId", "=", before.orgId);
    return held(row, call.services.store.dialect).execute();
  });
  // As it is now, if the caller still sees it.
  const rule = await seen();
  if (!rule) throw await unseen(call, "pamRules", id);
  const { name, orgId, siteId } = rule;
  call.audit.note({ resource: { id, name }, owner: { orgId }, siteIds: [siteId] });
  await getWritableOrg(call, orgId, tx);
  return rule;
}

type Place = Pick<PamRule, "orgId" | "siteId" | "matchSignerGroupId">;

/** Refuses a site or a signer group that a rule of this organization cannot name. */
export async function refuseMisplaced(
  call: Call,
  db: Reader,
  { orgId, siteId, matchSignerGroupId }: Place,
): Promise<void> {
  await refuseForeignSite(call, db, { orgId, siteId, code: "SITE_NOT_IN_ORG" });
  if (matchSignerGroupId === null) return;
  const group = db.selectFrom("signerGroups").select("id").where("orgId", "=", orgId);
  if (!(await group.where("id", "=", matchSignerGroupId).executeTakeFirst())) throw problem("SIGNER_GROUP_NOT_IN_ORG");
}

/** The same of a rule that is written: nobody changes or deletes the group until the commit. */
export async function holdPlace(call: Call, tx: Tx, rule: Place): Promise<void> {
  const { orgId, matchSignerGroupId: groupId } = rule;
  await call.asSystem("write rules of elevations", (all) => {
    const group = all.selectFrom("signerGroups").select("id").where("id", "=", groupId).where("orgId", "=", orgId);
    return shared(group, call.services.store.dialect).execute();
  });
  await refuseMisplaced(call, tx, rule);
}

/** Rules of one organization are made one after the other, so that none slips past the limit. */
export async function refuseOverLimit(call: Call, tx: Tx, orgId: string, max: number): Promise<void> {
  await lockText(tx, call.services.store.dialect, `pam rules of ${orgId}`);
  const { count } = await call.asSystem("count against caps", (all) =>
    all
      .selectFrom("pamRules")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where("orgId", "=", orgId)
      .executeTakeFirstOrThrow(),
  );
  if (Number(count) >= max)
    throw problem("LIMIT_REACHED", { details: { limit: "rules", max, current: Number(count) } });
}
