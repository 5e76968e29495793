import { asSystem } from "#server/db/as-system";
import { word } from "#server/db/dialect/text";
import type { Services } from "#server/services";
import { eachByItself } from "./each-by-itself.ts";
import { holdMachine } from "./hold.ts";
import { tellApprovers } from "./tell-approvers.ts";

const BATCH = 500;

/** Tells of requests that came within a minute of a notice and after which none came. */
export async function announceWaiting(services: Services): Promise<void> {
  const db = asSystem(services, "decide elevations");
  const due = await db
    .selectFrom("elevationRequests")
    .select("deviceId")
    .distinct()
    .where("status", "=", word("pending"))
    .where("announcedAt", "is", null)
    .where("deviceId", "is not", null)
    .limit(BATCH)
    .execute();
  await eachByItself(due, ({ deviceId }) =>
    db.transaction().execute(async (tx) => {
      const machine = await holdMachine(tx, services, deviceId as string);
      if (machine) await tellApprovers(tx, services, machine);
    }),
  );
}
