import { among } from "#server/db/dialect/json";
import { preparedRows } from "#server/db/prepared";
import type { Reader } from "#server/db/unit-of-work";
import { problem } from "#server/problem";

/**
 * The devices of these groups, all as of one moment, for whoever starts something on them (docs/device-groups.md,
 * "Groups as targets"). While the conditions of one fail, or are new and its devices not all written, 503
 * `GROUP_EVALUATION_FAILED`: an old membership is not acted on. A group that is gone has no devices.
 */
export async function targetedDevices(db: Reader, groupIds: readonly string[]): Promise<string[]> {
  const rows = await membersOf(db, { groupIds }, null);
  const failed = new Set(rows.filter(isUnsure).map(({ groupId }) => groupId));
  if (failed.size > 0) throw problem("GROUP_EVALUATION_FAILED", { details: { groupIds: [...failed] } });
  return [...new Set(rows.flatMap(({ deviceId }) => deviceId ?? []))];
}

type Row = Awaited<ReturnType<typeof membersOf>>[number];

const isUnsure = ({ type, failure, evaluatedAt }: Row): boolean =>
  type === "dynamic" && (failure !== null || evaluatedAt === null);

const membersOf = preparedRows((db, { groupIds }: { groupIds: readonly string[] }) =>
  db
    .selectFrom("deviceGroups")
    .leftJoin("deviceGroupMembers", (join) =>
      join
        .onRef("deviceGroupMembers.orgId", "=", "deviceGroups.orgId")
        .onRef("deviceGroupMembers.groupId", "=", "deviceGroups.id"),
    )
    .select(["deviceGroups.id as groupId", "deviceGroups.lastEvaluationError as failure"])
    .select(["deviceGroups.type", "deviceGroups.lastEvaluatedAt as evaluatedAt", "deviceGroupMembers.deviceId"])
    .where((eb) => among(db, eb.ref("deviceGroups.id"), groupIds)),
);
