import type { Endpoint } from "#contract/core/endpoint";
import type { deviceGroups } from "#contract/resources/fleet/device-groups";
import { orgForCreate } from "#server/access/org-access";
import { refuseForeignSite } from "#server/access/site-access";
import type { Tx } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { afterAsking } from "#server/http/implement";
import { problem } from "#server/problem";
import { differenceNow, follow } from "./change-rule.ts";
import { addMembers, type GroupKey, holdDevices, idsOf, toldOfMembers } from "./members.ts";
import { refuseNamedGroups } from "./named-groups.ts";
import { holdGroups, refuseMisplaced, refuseOverLimit, refuseTakenName } from "./place.ts";
import { shownGroup } from "./queries.ts";
import { holdNamedFields, type JudgedRule, judgeRule, storedRule } from "./rule.ts";
import { keyOfName } from "./rules.ts";

type Types = typeof deviceGroups.create extends Endpoint<infer T> ? T : never;
type CreateCall = Call<Types>;

/** Creates a group with its first devices: those that are named, or all that match (docs/device-groups.md, "Groups"). */
export const createGroup = afterAsking<Types, JudgedRule | undefined>(judge, insertGroup);

/** A look at all devices, before anything is held. */
async function judge(call: CreateCall): Promise<JudgedRule | undefined> {
  const { type, filterConditions, deviceIds, siteId } = call.body;
  const { id: orgId } = await orgForCreate(call, call.body.orgId);
  await refuseForeignSite(call, call.db, { orgId, siteId, code: "SITE_NOT_IN_ORG" });
  if (type === "static") {
    if (filterConditions !== null) throw problem("FILTER_NOT_ALLOWED");
    return undefined;
  }
  if (filterConditions === null) throw problem("FILTER_REQUIRED");
  if (deviceIds.length > 0) throw problem("DYNAMIC_GROUP");
  return judgeRule(call, { orgId, siteId }, filterConditions);
}

async function insertGroup(call: CreateCall, rule: JudgedRule | undefined) {
  return call.transaction(async (tx) => {
    const { name, siteId, description, parentId, type } = call.body;
    const org = await orgForCreate(call, call.body.orgId, tx);
    const orgId = org.id;
    const id = call.random.uuid();
    call.audit.note({ resource: { id, name }, owner: { orgId }, siteIds: [siteId] });
    await refuseForeignSite(call, tx, { orgId, siteId, code: "SITE_NOT_IN_ORG" });
    if (rule) await holdNamedFields(call, tx, org, rule);
    const groups = await holdGroups(call, tx, orgId);
    await refuseMisplaced(call, tx, groups, { id, siteId, parentId, named: parentId });
    if (rule) await refuseNamedGroups(tx, groups, { id, orgId, filter: rule.filter }, []);
    refuseTakenName(groups, id, name);
    refuseOverLimit(groups);
    const found = rule && (await differenceNow(tx, id, rule));
    const now = call.clock.now();
    const evaluatedAt = found ? now : null;
    await tx
      .insertInto("deviceGroups")
      .values({
        ...{ id, orgId, siteId, name, nameKey: keyOfName(name), description, parentId, type, filterVersion: 1 },
        ...(rule ? storedRule(rule.filter) : noRule),
        ...{ lastEvaluatedAt: evaluatedAt, attemptedAt: evaluatedAt, lastEvaluationError: null },
        ...{ createdBy: user(call).userId, createdAt: now, updatedAt: now },
      })
      .execute();
    const group = { id, orgId, siteId, name };
    const devices = rule ? await follow(call, group, found) : await putIn(call, tx, group);
    call.audit.note({ details: { type, devices } });
    return shownGroup(tx, id);
  });
}

const noRule = { filterConditions: null, filterFieldsUsed: [], filterGroupIds: [], byClock: false };

/** Answers how many. */
async function putIn(call: CreateCall, tx: Tx, group: GroupKey): Promise<number> {
  const devices = await holdDevices(call, tx, group, call.body.deviceIds);
  const added = await addMembers(tx, call.services, group, devices, { addedBy: "manual", reason: "manual" });
  if (added.length > 0) call.emit("group.membership_changed", toldOfMembers(group, idsOf(added), []));
  return added.length;
}
