import type { Tx } from "#server/db/unit-of-work";
import { after, MINUTE } from "#server/platform/clock";
import type { SignInUser } from "./find-user.ts";

const WRONG_PASSWORDS_TO_LOCK = 5;
const LOCK_MS = 5 * MINUTE;

/**
 * Counts a wrong password; the fifth in a row locks the account. One statement, so that parallel guesses
 * all count. Answers the end of the lock it set.
 */
export async function countWrongPassword(tx: Tx, userId: string, now: string): Promise<string | undefined> {
  const row = await tx
    .updateTable("users")
    .set((eb) => {
      const locks = eb("failedLogins", ">=", WRONG_PASSWORDS_TO_LOCK - 1);
      return {
        failedLogins: eb
          .case()
          .when(locks)
          .then(0)
          .else(eb("failedLogins", "+", 1))
          .end(),
        lockedUntil: eb
          .case()
          .when(locks)
          .then(eb.val(after(now, LOCK_MS)))
          .else(eb.ref("lockedUntil"))
          .end(),
      };
    })
    .where("id", "=", userId)
    .where((eb) => eb.or([eb("lockedUntil", "is", null), eb("lockedUntil", "<=", now)]))
    .returning("lockedUntil")
    .executeTakeFirst();
  return row?.lockedUntil && row.lockedUntil > now ? row.lockedUntil : undefined;
}

/**
 * Resets the count of wrong passwords. False if the account was locked, disabled or given another password since it was
 * read: the sign-in must not continue.
 */
export async function clearWrongPasswords(
  tx: Tx,
  user: Pick<SignInUser, "id" | "passwordHash">,
  now: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("users")
    .set({ failedLogins: 0, lockedUntil: null })
    .where("id", "=", user.id)
    .where("status", "=", "active")
    .where("passwordHash", "=", user.passwordHash)
    .where((eb) => eb.or([eb("lockedUntil", "is", null), eb("lockedUntil", "<=", now)]))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}
