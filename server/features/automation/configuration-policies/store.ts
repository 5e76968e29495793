import { isDeepStrictEqual } from "node:util";
import { type Owner, ownerColumns } from "#server/access/owner-rule";
import { chunks } from "#server/db/chunks";
import { isForeignKeyViolation } from "#server/db/dialect/violations";
import type { Tx } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import type { Wanted } from "./judge.ts";
import type { Placed } from "./place.ts";
import { assignmentsOf, featuresOf } from "./shown.ts";

/** Makes the policy carry exactly these; a type that stays keeps its row. Answers whether anything changed. */
export async function storeFeatures(
  call: Pick<Call, "random">,
  tx: Tx,
  { policyId, owner }: { policyId: string; owner: Owner },
  wanted: Wanted["features"],
): Promise<boolean> {
  const stored = await featuresOf(tx, policyId);
  const types = wanted.map(({ type }) => type);
  const gone = stored.filter(({ type }) => !types.includes(type)).map(({ id }) => id);
  if (gone.length > 0) await tx.deleteFrom("configurationPolicyFeatures").where("id", "in", gone).execute();
  let changed = gone.length > 0;
  for (const { type, settings } of wanted) {
    const before = stored.find((one) => one.type === type);
    if (isDeepStrictEqual(before?.settings, settings)) continue;
    changed = true;
    const values = { settings: settings as Record<string, unknown> };
    if (before) await tx.updateTable("configurationPolicyFeatures").set(values).where("id", "=", before.id).execute();
    else
      await tx
        .insertInto("configurationPolicyFeatures")
        .values({ id: call.random.uuid(), policyId, ...ownerColumns(owner), type, ...values })
        .execute();
  }
  return changed;
}

const keyOf = ({ level, targetId }: { level: string; targetId: string }): string => `${level} ${targetId}`;

/** Makes the policy cover exactly these; an assignment that stays keeps its row and its age. Answers whether anything changed. */
export async function storeAssignments(
  call: Pick<Call, "random" | "clock" | "who">,
  tx: Tx,
  { policyId, owner }: { policyId: string; owner: Owner },
  wanted: readonly Placed[],
): Promise<boolean> {
  const stored = new Map((await assignmentsOf(call, tx, policyId)).map((one) => [keyOf(one), one]));
  const kept = new Set(wanted.map(keyOf));
  const gone = [...stored].filter(([key]) => !kept.has(key)).map(([, { id }]) => id);
  for (const some of chunks(gone))
    await tx.deleteFrom("configurationPolicyAssignments").where("id", "in", some).execute();
  const added: ReturnType<typeof rowOf>[] = [];
  let changed = gone.length > 0;
  for (const one of wanted) {
    const before = stored.get(keyOf(one));
    if (!before) {
      added.push(rowOf(call, { policyId, owner }, one));
      continue;
    }
    const values = valuesOf(one);
    const { priority, roleFilter, osFilter } = before;
    if (isDeepStrictEqual(values, { priority, roleFilter, osFilter })) continue;
    changed = true;
    await tx.updateTable("configurationPolicyAssignments").set(values).where("id", "=", before.id).execute();
  }
  for (const some of chunks(added, 200)) await insert(tx, some);
  return changed || added.length > 0;
}

const valuesOf = ({ priority, roleFilter, osFilter }: Placed) => ({ priority, roleFilter, osFilter }) as Values;
type Values = Pick<Awaited<ReturnType<typeof assignmentsOf>>[number], "priority" | "roleFilter" | "osFilter">;

function rowOf(
  call: Pick<Call, "random" | "clock" | "who">,
  { policyId, owner }: { policyId: string; owner: Owner },
  one: Placed,
) {
  const at = (level: Placed["level"]) => (one.level === level ? one.targetId : null);
  return {
    ...{ id: call.random.uuid(), policyId, level: one.level, targetId: one.targetId, ...valuesOf(one) },
    ...ownerColumns({ orgId: one.orgId, partnerId: owner.partnerId }),
    ...{ siteId: at("site"), groupId: at("device_group"), deviceId: at("device") },
    ...{ assignedBy: user(call).userId, createdAt: call.clock.now() },
  };
}

/** A target that went away meanwhile is named by nothing any more. */
async function insert(tx: Tx, rows: ReturnType<typeof rowOf>[]): Promise<void> {
  try {
    await tx.insertInto("configurationPolicyAssignments").values(rows).execute();
  } catch (error) {
    throw isForeignKeyViolation(error) ? problem("TARGET_NOT_IN_SCOPE", { cause: error }) : error;
  }
}
