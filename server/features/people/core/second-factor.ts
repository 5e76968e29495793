import type { Tx } from "#server/db/unit-of-work";
import { disableApproverDevices } from "./approver-devices.ts";
import type { SignInUser } from "./find-user.ts";

interface Offer {
  /** Sealed setup, until it is confirmed. */
  pending: string;
  expiresAt: string;
}

/** Keeps a setup that waits for its first code; a newer one replaces it. False where the person has a factor already. */
export async function offerFactor(tx: Tx, userId: string, { pending, expiresAt }: Offer): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("users")
    .set({ mfaPending: pending, mfaPendingExpiresAt: expiresAt })
    .where("id", "=", userId)
    .where("mfaSecret", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

interface Adoption {
  /** The very setup that was proved. */
  pending: string;
  /** Sealed TOTP secret. */
  secret: string;
  /** The time step of the code that proved it. */
  step: number;
  now: string;
}

/** Turns the setup that was just proved into the factor, once. False when it is no longer the one that waits. */
export async function adoptFactor(tx: Tx, userId: string, { pending, secret, step, now }: Adoption): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("users")
    .set({ mfaSecret: secret, mfaLastStep: step, mfaPending: null, mfaPendingExpiresAt: null, updatedAt: now })
    .where("id", "=", userId)
    .where("mfaPending", "=", pending)
    .where("mfaSecret", "is", null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Uses a time step up: each counts once, also when two calls come at the same moment. False when it was used. */
export async function takeTimeStep(tx: Tx, user: Pick<SignInUser, "id" | "mfaSecret">, step: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("users")
    .set({ mfaLastStep: step })
    .where("id", "=", user.id)
    .where("mfaSecret", "=", user.mfaSecret)
    .where("mfaLastStep", "<", step)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** The person has no factor any more, no setup that waits, and approves with no device. */
export async function dropFactor(tx: Tx, userId: string, now: string): Promise<void> {
  await tx
    .updateTable("users")
    .set({ mfaSecret: null, mfaPending: null, mfaPendingExpiresAt: null, updatedAt: now })
    .where("id", "=", userId)
    .execute();
  await disableApproverDevices(tx, userId, now);
}
