import type { Tx } from "#server/db/unit-of-work";

/** What an invited person brings: a password, or an identity provider that vouches for them. */
interface Activation {
  now: string;
  passwordHash?: string;
  name?: string | undefined;
  /** A mailed token was answered. An identity provider proves no address (docs/people.md, "Proven addresses"). */
  provesAddress: boolean;
}

/** Makes an invited person active. False when they are not invited any more. */
export async function activateAccount(
  tx: Tx,
  userId: string,
  { now, passwordHash, name, provesAddress }: Activation,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("users")
    .set({
      status: "active",
      updatedAt: now,
      ...(provesAddress ? { emailVerifiedAt: now } : {}),
      ...(passwordHash === undefined ? {} : { passwordHash, passwordChangedAt: now }),
      ...(name === undefined ? {} : { name }),
    })
    .where("id", "=", userId)
    .where("status", "=", "invited")
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** The person answered a mail to their address. */
export async function markAddressProven(tx: Tx, userId: string, now: string): Promise<void> {
  await tx.updateTable("users").set({ emailVerifiedAt: now, updatedAt: now }).where("id", "=", userId).execute();
}
