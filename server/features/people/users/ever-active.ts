import type { Reader } from "#server/db/unit-of-work";

/** Whether the account was ever used: whoever holds an invitation's link must not take it over. */
export async function wasEverActive(db: Reader, userId: string): Promise<boolean> {
  const user = await db
    .selectFrom("users")
    .select(["status", "passwordHash", "emailVerifiedAt", "lastLoginAt"])
    .where("id", "=", userId)
    .executeTakeFirst();
  if (!user) return false;
  const traces = [user.passwordHash, user.emailVerifiedAt, user.lastLoginAt];
  return user.status !== "invited" || traces.some((trace) => trace !== null);
}
