import { type Expression, type ExpressionBuilder, expressionBuilder, type SqlBool } from "kysely";
import type { Database } from "#server/db/tables";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { after } from "#server/platform/clock";
import { LOCK_MS, REFRESH_TOKEN_MS, WRONG_PASSWORDS_TO_LOCK } from "./rules.ts";

/** What signing in needs of a user. Secrets among it: never part of an answer. */
const signInColumns = [
  "id",
  "email",
  "name",
  "avatarUrl",
  "status",
  "passwordHash",
  "passwordChangedAt",
  "mfaSecret",
  "mfaLastStep",
  "isPlatformAdmin",
  "lockedUntil",
] as const;

export type SignInUser = NonNullable<Awaited<ReturnType<typeof findUserByEmail>>>;

export const findUserByEmail = (db: Reader, email: string) =>
  db.selectFrom("users").select(signInColumns).where("email", "=", email).executeTakeFirst();

export const findUserById = (db: Reader, id: string) =>
  db.selectFrom("users").select(signInColumns).where("id", "=", id).executeTakeFirst();

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

/** The caller's sessions that can still be used: not ended, and refreshed within a refresh token's life. */
export const openSessions = (db: Reader, who: { userId: string; sessionId: string }, now: string) =>
  db
    .selectFrom("sessions")
    .where("userId", "=", who.userId)
    .where("revokedAt", "is", null)
    .where("absoluteExpiresAt", ">", now)
    .where("lastUsedAt", ">", after(now, -REFRESH_TOKEN_MS))
    .where(reachableFrom(who.sessionId));

/**
 * What a session may see and end of its person's: everything, or where an identity provider began it, sessions of the
 * provider's own tenant. Otherwise an organization's administrator could follow a guest, and sign them out, everywhere.
 */
export function reachableFrom(sessionId: string) {
  const { or, and, eb, ref } = expressionBuilder<Database & { own: Database["sessions"] }, "own" | "sessions">();
  const sameTenant = and([
    eb("own.memberOrgId", "is not distinct from", ref("sessions.memberOrgId")),
    eb("own.memberPartnerId", "is not distinct from", ref("sessions.memberPartnerId")),
  ]);
  return ({ exists, selectFrom }: ExpressionBuilder<Database, "sessions">): Expression<SqlBool> =>
    exists(
      selectFrom("sessions as own")
        .select("own.id")
        .where("own.id", "=", sessionId)
        .where(or([eb("own.ssoProviderId", "is", null), sameTenant])),
    );
}

/** A refresh token with its session and user, found by its hash. */
export const findRefreshToken = (db: Reader, tokenHash: string) =>
  db
    .selectFrom("refreshTokens")
    .innerJoin("sessions", "sessions.id", "refreshTokens.sessionId")
    .innerJoin("users", "users.id", "sessions.userId")
    .where("refreshTokens.tokenHash", "=", tokenHash)
    .select(["refreshTokens.id", "refreshTokens.spentAt", "refreshTokens.expiresAt", "sessions.id as sessionId"])
    .select(["sessions.revokedAt", "sessions.absoluteExpiresAt", "sessions.mfaVerifiedAt"])
    .select(["sessions.ssoProviderId", "sessions.memberOrgId", "sessions.memberPartnerId"])
    .select(["users.id as userId", "users.email", "users.name", "users.status", "users.isPlatformAdmin"])
    .executeTakeFirst();
