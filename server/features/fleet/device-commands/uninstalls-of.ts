import type { Reader } from "#server/db/unit-of-work";

/** How the devices of an organization have taken it; the open ones by their command's device. */
export interface Uninstalls {
  readonly uninstallsCompleted: number;
  readonly uninstallsFailed: number;
  readonly neverDelivered: string[];
  readonly deliveredUnconfirmed: string[];
}

/** The uninstalls that a wind-down has queued or found. */
export async function uninstallsOf(db: Reader, orgId: string, since: string): Promise<Uninstalls> {
  const commands = await db
    .selectFrom("deviceCommands")
    .select(["status", "deviceId"])
    .where("orgId", "=", orgId)
    .where("type", "=", "self_uninstall")
    .where((eb) => eb.or([eb("completedAt", "is", null), eb("completedAt", ">=", since)]))
    .orderBy("queuedAt")
    .orderBy("id")
    .execute();
  const those = (...statuses: string[]) => commands.filter(({ status }) => statuses.includes(status));
  const ids = (status: string) => those(status).flatMap(({ deviceId }) => deviceId ?? []);
  return {
    uninstallsCompleted: those("completed").length,
    uninstallsFailed: those("failed", "timeout", "cancelled").length,
    neverDelivered: ids("pending"),
    deliveredUnconfirmed: ids("sent"),
  };
}
