import type { Kysely } from "kysely";
import type { Json } from "#server/db/column-types";
import type { Database } from "#server/db/tables";
import type { Reader, Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { after, DAY, HOUR, SECOND } from "#server/platform/clock";
import { sha256 } from "#server/platform/vault";

/** One-time tokens of a person. Each kind's newest token ends the older ones, except at sign-in. */
export type TokenKind = "mfa_login" | "password_reset" | "invite";

const lifeMs: Record<TokenKind, number> = { mfa_login: 300 * SECOND, password_reset: HOUR, invite: 7 * DAY };
/** A person may be signing in on two devices at once. */
const several: ReadonlySet<TokenKind> = new Set(["mfa_login"]);

/** A token is of no use after this many wrong tries with it. */
export const FAILURES_TO_END = 5;

/** Makes a token of 48 characters; only its SHA-256 is stored. */
export async function issueUserToken(
  tx: Tx,
  { clock, random }: Pick<Call, "clock" | "random">,
  token: { userId: string; kind: TokenKind; data: Json },
): Promise<string> {
  const plaintext = random.bytes(36).toString("base64url");
  const now = clock.now();
  if (!several.has(token.kind)) await endUserTokens(tx, token.userId, [token.kind]);
  await tx
    .insertInto("userTokens")
    .values({
      id: random.uuid(),
      ...token,
      tokenHash: sha256(plaintext),
      failures: 0,
      createdAt: now,
      expiresAt: after(now, lifeMs[token.kind]),
      usedAt: null,
    })
    .execute();
  return plaintext;
}

/** Used and expired ones too: what they still mean is the caller's to say. */
export const findUserToken = (db: Reader, kind: TokenKind, plaintext: string) =>
  db
    .selectFrom("userTokens")
    .selectAll()
    .where("kind", "=", kind)
    .where("tokenHash", "=", sha256(plaintext))
    .executeTakeFirst();

export type UserToken = NonNullable<Awaited<ReturnType<typeof findUserToken>>>;

export const isLive = (token: UserToken, now: string): boolean =>
  token.usedAt === null && token.expiresAt > now && token.failures < FAILURES_TO_END;

/** Spends one of the tries, before it is judged: parallel guesses share the five. False when none is left. */
export async function takeTry(tx: Tx, tokenId: string, now: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("userTokens")
    .set((eb) => ({ failures: eb("failures", "+", 1) }))
    .where("id", "=", tokenId)
    .where("failures", "<", FAILURES_TO_END)
    .where("usedAt", "is", null)
    .where("expiresAt", ">", now)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Uses the token up; false if another request did, or it has ended. */
export async function useUserToken(tx: Tx, tokenId: string, now: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("userTokens")
    .set({ usedAt: now })
    .where("id", "=", tokenId)
    .where("usedAt", "is", null)
    .where("expiresAt", ">", now)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Ends what was handed out and not used, such as after a change of password, factor or status. */
export async function endUserTokens(tx: Tx, userId: string, kinds: readonly TokenKind[]): Promise<void> {
  await tx
    .deleteFrom("userTokens")
    .where("userId", "=", userId)
    .where("kind", "in", kinds)
    .where("usedAt", "is", null)
    .execute();
}

/**
 * Drops tokens that expired before this; until then an accepted invitation can be distinguished from an unknown one.
 */
export async function purgeUserTokens(db: Kysely<Database>, before: string): Promise<void> {
  await db.deleteFrom("userTokens").where("expiresAt", "<=", before).execute();
}
