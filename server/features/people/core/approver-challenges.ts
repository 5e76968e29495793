import type { Kysely } from "kysely";
import type { Database } from "#server/db/tables";
import type { Reader, Tx } from "#server/db/unit-of-work";

/** Whose, and in which of their sessions; only there it may be answered. */
interface Asked {
  readonly sessionId: string;
  readonly userId: string;
}

interface Offer extends Asked {
  readonly challengeHash: string;
  readonly expiresAt: string;
}

/** A challenge to register a device; it voids the session's earlier one. */
export async function offerRegistration(tx: Tx, { challengeHash, expiresAt, ...asked }: Offer): Promise<void> {
  await tx
    .insertInto("approverRegistrations")
    .values({ ...asked, challengeHash, expiresAt })
    .onConflict((on) => on.column("sessionId").doUpdateSet({ challengeHash, expiresAt }))
    .execute();
}

/** A challenge to sign for one request; it voids the session's earlier one for the same request. */
export async function offerAssertion(
  tx: Tx,
  { challengeHash, expiresAt, ...asked }: Offer & { readonly elevationRequestId: string },
): Promise<void> {
  await tx
    .insertInto("assertionChallenges")
    .values({ ...asked, challengeHash, expiresAt })
    .onConflict((on) => on.columns(["sessionId", "elevationRequestId"]).doUpdateSet({ challengeHash, expiresAt }))
    .execute();
}

/** The hash of what the session was to sign to register, once: of two attempts the second finds nothing. */
export async function takeRegistration(tx: Tx, { sessionId, userId }: Asked, now: string): Promise<string | undefined> {
  const row = await tx
    .deleteFrom("approverRegistrations")
    .where("sessionId", "=", sessionId)
    .where("userId", "=", userId)
    .returning(["challengeHash", "expiresAt"])
    .executeTakeFirst();
  return row && row.expiresAt >= now ? row.challengeHash : undefined;
}

/** The same of what it was to sign for a request, whatever challenge the attempt brings. */
export async function takeAssertion(
  tx: Tx,
  { sessionId, userId, elevationRequestId }: Asked & { readonly elevationRequestId: string },
  now: string,
): Promise<string | undefined> {
  const row = await tx
    .deleteFrom("assertionChallenges")
    .where("sessionId", "=", sessionId)
    .where("elevationRequestId", "=", elevationRequestId)
    .where("userId", "=", userId)
    .returning(["challengeHash", "expiresAt"])
    .executeTakeFirst();
  return row && row.expiresAt >= now ? row.challengeHash : undefined;
}

/** What a challenge is for, while it may be answered; it goes on waiting. */
export async function waitingFor(db: Reader, challengeHash: string, now: string) {
  const registration = await db
    .selectFrom("approverRegistrations")
    .select(["userId", "sessionId"])
    .where("challengeHash", "=", challengeHash)
    .where("expiresAt", ">=", now)
    .executeTakeFirst();
  if (registration) return { ...registration, elevationRequestId: null };
  return db
    .selectFrom("assertionChallenges")
    .select(["userId", "sessionId", "elevationRequestId"])
    .where("challengeHash", "=", challengeHash)
    .where("expiresAt", ">=", now)
    .executeTakeFirst();
}

/** All that wait for a signature of the person. */
export async function endChallenges(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom("approverRegistrations").where("userId", "=", userId).execute();
  await tx.deleteFrom("assertionChallenges").where("userId", "=", userId).execute();
}

export async function purgeChallenges(db: Kysely<Database>, now: string): Promise<void> {
  await db.deleteFrom("approverRegistrations").where("expiresAt", "<", now).execute();
  await db.deleteFrom("assertionChallenges").where("expiresAt", "<", now).execute();
}
