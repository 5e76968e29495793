import { type CommandType, commandRules, commandTypes } from "#contract/core/command-types";
import { lockText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import type { Services } from "#server/services";

/** Live calls that may be open at once. */
const perUser = { name: "live-user", max: 5 };
const perDevice = { name: "live-device", max: 3 };

const liveTypes = (Object.keys(commandTypes) as CommandType[]).filter((type) => commandRules(type).live === true);

/**
 * Refuses a call beyond them (429). Open is whose command is: no process that dies leaves a call open for longer than
 * its command lasts. The caller holds the device's row, and calls of one person wait here for each other.
 */
export async function refuseTooMany(
  tx: Tx,
  { store, clock }: Pick<Services, "store" | "clock">,
  { userId, deviceId }: { userId: string; deviceId: string },
): Promise<void> {
  await lockText(tx, store.dialect, `live:${userId}`);
  const open = await tx
    .selectFrom("deviceCommands")
    .select(["createdBy", "deviceId"])
    .where("type", "in", liveTypes)
    .where("status", "in", ["pending", "sent"])
    .where("expiresAt", ">", clock.now())
    .where((eb) => eb.or([eb("createdBy", "=", userId), eb("deviceId", "=", deviceId)]))
    .execute();
  const of = (limit: { max: number }, mine: number) => mine >= limit.max;
  const reached = of(perUser, open.filter((one) => one.createdBy === userId).length)
    ? perUser
    : of(perDevice, open.filter((one) => one.deviceId === deviceId).length)
      ? perDevice
      : undefined;
  if (reached)
    throw problem("RATE_LIMITED", { details: { limit: reached.name, max: reached.max }, retryAfterSeconds: 1 });
}
