import type { Tx } from "#server/db/unit-of-work";

/** What an invited person brings: a password, or an identity provider that vouches for them. */
interface Activation {
  now: string;
  passwordHash?: string;
  name?: string | undefined;
}

/** Makes an invited person active, whose address is proven thereby. False when they are not invited any more. */
export async function activateAccount(
  tx: Tx,
  userId: string,
  { now, passwordHash, name }: Activation,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("users")
    .set({
      status: "active",
      emailVerifiedAt: now,
      updatedAt: now,
      ...(passwordHash === undefined ? {} : { passwordHash, passwordChangedAt: now }),
      ...(name === undefined ? {} : { name }),
    })
    .where("id", "=", userId)
    .where("status", "=", "invited")
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
