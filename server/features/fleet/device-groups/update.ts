import type { Endpoint } from "#contract/core/endpoint";
import type { deviceGroups } from "#contract/resources/fleet/device-groups";
import { getWritableOrg } from "#server/access/org-access";
import { refuseForeignSite } from "#server/access/site-access";
import { changedFields } from "#server/audit/changed-fields";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { afterAsking } from "#server/http/implement";
import { problem } from "#server/problem";
import { differenceNow, follow, leaveForeign } from "./change-rule.ts";
import { refuseNamedGroups } from "./named-groups.ts";
import { holdGroups, refuseMisplaced, refuseTakenName } from "./place.ts";
import { type Group, getGroup, holdGroup, shownGroup } from "./queries.ts";
import { holdNamedFields, type JudgedRule, judgeRule, storedRule } from "./rule.ts";
import { keyOfName } from "./rules.ts";

type Types = typeof deviceGroups.update extends Endpoint<infer T> ? T : never;
export type UpdateCall = Call<Types>;

/** What a change begins with: the rule as it will be, if the members follow another one from now on. */
interface Judged {
  readonly version: number;
  readonly rule: JudgedRule | undefined;
}

/** Omitted fields keep their values (docs/device-groups.md, "Groups"). */
export const updateGroup = afterAsking<Types, Judged>(judge, writeGroup);

async function judge(call: UpdateCall): Promise<Judged> {
  const group = await getGroup(call, call.db, call.params.id);
  await refuseWrite(call, call.db, group);
  const { filterConditions: given, siteId = group.siteId } = call.body;
  if (group.type === "static" && given) throw problem("FILTER_NOT_ALLOWED");
  if (group.type === "dynamic" && given === null) throw problem("FILTER_REQUIRED");
  const filterConditions = given ?? group.filterConditions;
  const same = filterConditions === null || (given === undefined && siteId === group.siteId);
  const rule = same ? undefined : await judgeRule(call, { orgId: group.orgId, siteId }, filterConditions);
  return { version: group.filterVersion, rule };
}

async function refuseWrite(call: UpdateCall, db: Call["db"], { orgId, siteId }: Group): Promise<void> {
  await getWritableOrg(call, orgId, db);
  if (Object.keys(call.body).length === 0) throw problem("NO_UPDATES");
  const to = call.body.siteId;
  if (to !== undefined && to !== siteId)
    await refuseForeignSite(call, db, { orgId, siteId: to, code: "SITE_NOT_IN_ORG" });
}

async function writeGroup(call: UpdateCall, { version, rule }: Judged) {
  return call.transaction(async (tx) => {
    const { id, name, orgId, siteId } = await getGroup(call, tx, call.params.id);
    const siteIds = [siteId, call.body.siteId === undefined ? siteId : call.body.siteId];
    call.audit.note({ resource: { id, name }, owner: { orgId }, siteIds });
    if (rule) await holdNamedFields(call, tx, await getWritableOrg(call, orgId, tx), rule);
    const groups = await holdGroups(call, tx, orgId);
    const before = await holdGroup(call, tx, id);
    await refuseWrite(call, tx, before);
    // Who matches was looked up for what the group was then.
    if (before.filterVersion !== version) throw problem("CONCURRENT_MODIFICATION");
    const after = { ...before, ...call.body };
    await refuseMisplaced(call, tx, groups, { ...after, named: call.body.parentId });
    if (rule) await refuseNamedGroups(tx, groups, { id, orgId, filter: rule.filter }, before.filterGroupIds);
    refuseTakenName(groups, id, after.name);
    const found = rule && (await differenceNow(tx, id, rule));
    await store(call, tx, before, { rule, evaluated: found !== undefined });
    call.audit.note({ details: { changedFields: changedFields(before, call.body) } });
    if (after.siteId !== before.siteId && (found || !rule)) await leaveForeign(call, tx, after);
    if (rule) await follow(call, after, found);
    return shownGroup(tx, id);
  });
}

interface Stored {
  readonly rule: JudgedRule | undefined;
  /** Its members follow the rule at once. */
  readonly evaluated: boolean;
}

async function store(call: UpdateCall, tx: Tx, before: Group, { rule, evaluated }: Stored): Promise<void> {
  const { filterConditions: _, ...plain } = call.body;
  const now = call.clock.now();
  const evaluatedAt = evaluated ? now : null;
  const moved = plain.siteId !== undefined && plain.siteId !== before.siteId;
  await tx
    .updateTable("deviceGroups")
    .set({
      ...plain,
      ...(plain.name === undefined ? {} : { nameKey: keyOfName(plain.name) }),
      ...(rule ? storedRule(rule.filter) : {}),
      ...(rule ? { lastEvaluatedAt: evaluatedAt, attemptedAt: evaluatedAt, lastEvaluationError: null } : {}),
      ...(rule || moved ? { filterVersion: before.filterVersion + 1 } : {}),
      updatedAt: now,
    })
    .where("id", "=", before.id)
    .execute();
}
