import type { ExpressionBuilder } from "kysely";
import { asSystem } from "#server/db/as-system";
import { lockText } from "#server/db/dialect/locks";
import type { Database } from "#server/db/tables";
import { after, DAY } from "#server/platform/clock";
import type { Services } from "#server/services";
import { SHARED_ROWS } from "./share-patches.ts";

const MISSING_KEPT_MS = 180 * DAY;
const UNUSED_KEPT_MS = 90 * DAY;

/** Ends what nobody reports any more (docs/software.md, "How long patches are kept"). */
export async function dropUnused(services: Services): Promise<void> {
  const db = asSystem(services, "purge expired");
  const now = services.clock.now();
  await db
    .deleteFrom("devicePatches")
    .where("status", "=", "missing")
    .where("statusChangedAt", "<", after(now, -MISSING_KEPT_MS))
    .execute();
  await db.transaction().execute(async (tx) => {
    // No report makes a device's row of a patch in between.
    await lockText(tx, services.store.dialect, SHARED_ROWS);
    await tx
      .deleteFrom("patches")
      .where("unusedSince", "<", after(now, -UNUSED_KEPT_MS))
      .where((eb) => eb.not(isUsed(eb)))
      .execute();
    await tx
      .updateTable("patches")
      .set({ unusedSince: null })
      .where("unusedSince", "is not", null)
      .where((eb) => isUsed(eb))
      .execute();
    await tx
      .updateTable("patches")
      .set({ unusedSince: now })
      .where("unusedSince", "is", null)
      .where((eb) => eb.not(isUsed(eb)))
      .execute();
  });
}

const isUsed = (eb: ExpressionBuilder<Database, "patches">) =>
  eb.exists(
    eb.selectFrom("devicePatches").select("devicePatches.patchId").whereRef("devicePatches.patchId", "=", "patches.id"),
  );
