import type { Reader } from "#server/db/unit-of-work";

/** The last thing that was written down of its reachability; nothing is like offline. */
export async function lastState(db: Reader, device: { id: string; orgId: string }): Promise<"online" | "offline"> {
  const last = await db
    .selectFrom("deviceAvailability")
    .select("state")
    .where("orgId", "=", device.orgId)
    .where("deviceId", "=", device.id)
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return last?.state ?? "offline";
}
