import type { Insertable, Selectable } from "kysely";
import type { ApproverDevicesTable } from "#server/db/tables/approver-devices";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { endChallenges } from "./approver-challenges.ts";

export type ApproverDevice = Selectable<ApproverDevicesTable>;

/** Those that count, the oldest first. Needs an unscoped handle. */
export const activeDevicesOf = (db: Reader, userId: string): Promise<ApproverDevice[]> =>
  db
    .selectFrom("approverDevices")
    .selectAll()
    .where("userId", "=", userId)
    .where("disabledAt", "is", null)
    .orderBy("createdAt")
    .orderBy("id")
    .execute();

/** A unique violation says that somebody has the credential, or had it. */
export async function addApproverDevice(tx: Tx, device: Insertable<ApproverDevicesTable>): Promise<void> {
  await tx.insertInto("approverDevices").values(device).execute();
}

interface Use {
  readonly counter: number;
  /** Its key was seen backed up: it never counts as bound to its machine again. */
  readonly isBackedUp: boolean;
  readonly now: string;
}

/**
 * Notes a signature. False where the device was disabled or has signed again since it was read: of two signatures with
 * one state of the counter the second is a copy's.
 */
export async function noteUse(tx: Tx, device: ApproverDevice, { counter, isBackedUp, now }: Use): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("approverDevices")
    .set({ counter, lastUsedAt: now, ...(isBackedUp && { isPlatformBound: false }) })
    .where("id", "=", device.id)
    .where("counter", "=", device.counter)
    .where("disabledAt", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** One of the person's. False where it was disabled before; what waits for a signature of the person ends with it. */
export async function disableApproverDevice(
  tx: Tx,
  { id, userId }: Pick<ApproverDevice, "id" | "userId">,
  now: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("approverDevices")
    .set({ disabledAt: now })
    .where("id", "=", id)
    .where("userId", "=", userId)
    .where("disabledAt", "is", null)
    .executeTakeFirst();
  await endChallenges(tx, userId);
  return numUpdatedRows === 1n;
}

/** All of a person who has lost what they were registered with (docs/approver-devices.md, "When they end"). */
export async function disableApproverDevices(tx: Tx, userId: string, now: string): Promise<void> {
  await tx
    .updateTable("approverDevices")
    .set({ disabledAt: now })
    .where("userId", "=", userId)
    .where("disabledAt", "is", null)
    .execute();
  await endChallenges(tx, userId);
}
