import type { Reader } from "#server/db/unit-of-work";
import type { Policy } from "./seen.ts";

type Cover = Awaited<ReturnType<typeof coversOf>>[number];

const coversOf = (db: Reader, policyId: string) =>
  db
    .selectFrom("configurationPolicyAssignments")
    .select(["level", "targetId", "roleFilter", "osFilter"])
    .where("policyId", "=", policyId)
    .execute();

const column = { device: "id", site: "siteId", organization: "orgId", partner: "partnerId" } as const;

/** Devices in service that the handle reaches and the policy covers (docs/configuration-policies.md, "What people see"). */
export async function appliedDevices(db: Reader, { id, status }: Pick<Policy, "id" | "status">): Promise<number> {
  if (status !== "active") return 0;
  const alike = alikeIn(await coversOf(db, id));
  if (alike.length === 0) return 0;
  const { count } = await db
    .selectFrom("devices")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("devices.status", "<>", "decommissioned")
    .where((eb) =>
      eb.or(
        alike.map((covers) => {
          const { level, roleFilter, osFilter } = covers[0] as Cover;
          const targets = covers.map(({ targetId }) => targetId);
          const members = eb
            .selectFrom("deviceGroupMembers")
            .select("deviceGroupMembers.deviceId")
            .where("deviceGroupMembers.groupId", "in", targets);
          return eb.and([
            level === "device_group" ? eb("devices.id", "in", members) : eb(`devices.${column[level]}`, "in", targets),
            ...(roleFilter ? [eb("devices.deviceRole", "in", roleFilter)] : []),
            ...(osFilter ? [eb("devices.osType", "in", osFilter)] : []),
          ]);
        }),
      ),
    )
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Those of one level with one filter are one condition. */
function alikeIn(covers: readonly Cover[]): Cover[][] {
  const alike = new Map<string, Cover[]>();
  for (const cover of covers) {
    const key = JSON.stringify([cover.level, cover.roleFilter, cover.osFilter]);
    alike.set(key, [...(alike.get(key) ?? []), cover]);
  }
  return [...alike.values()];
}
