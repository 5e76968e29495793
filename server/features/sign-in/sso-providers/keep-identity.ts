import type { Json } from "#server/db/column-types";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { revokeSessions } from "#server/features/sign-in/core/revoke-sessions";
import type { Call } from "#server/http/call";
import { storableJson } from "#server/platform/storable-json";
import type { ProviderRow } from "./find-active-provider.ts";

/** What a provider says of a person who signs in. */
interface Said {
  subject: string;
  profile: { email: string };
  /** All claims, as they came. */
  claims: Readonly<Record<string, unknown>>;
  accessToken: string;
  refreshToken: string | null;
  tokenExpiresAt: string | null;
}

interface Kept {
  provider: Pick<ProviderRow, "id">;
  userId: string;
  assertion: Said;
}

/** Who a subject of the provider is here. */
export const findIdentity = (db: Reader, providerId: string, subject: string) =>
  db
    .selectFrom("ssoIdentities")
    .select(["id", "userId"])
    .where("providerId", "=", providerId)
    .where("externalId", "=", subject)
    .executeTakeFirst();

/**
 * Stores what the provider asserted at this sign-in. A person has one identity per provider: another subject with their
 * address, such as an account that was recreated in the directory, replaces the old one and ends the sessions that it
 * began: they may be those of whoever had the address before.
 */
export async function keepIdentity(
  call: Pick<Call, "clock" | "random" | "services">,
  tx: Tx,
  { provider, userId, assertion }: Kept,
): Promise<void> {
  const now = call.clock.now();
  const said = {
    email: assertion.profile.email,
    profile: storableJson(assertion.claims) as Json,
    ...sealedTokens(call, { provider, userId, assertion }),
    tokenExpiresAt: assertion.tokenExpiresAt,
    lastLoginAt: now,
    updatedAt: now,
  };
  const known = await findIdentity(tx, provider.id, assertion.subject);
  if (known) {
    await tx.updateTable("ssoIdentities").set(said).where("id", "=", known.id).execute();
    return;
  }
  const mine = tx.deleteFrom("ssoIdentities").where("providerId", "=", provider.id).where("userId", "=", userId);
  const { numDeletedRows } = await mine.executeTakeFirst();
  if (numDeletedRows > 0n) {
    await revokeSessions(tx, { userId, begunThrough: provider.id }, "identity replaced", now);
  }
  const key = { id: call.random.uuid(), providerId: provider.id, userId, externalId: assertion.subject };
  await tx
    .insertInto("ssoIdentities")
    .values({ ...key, ...said, createdAt: now })
    .execute();
}

/** Each opens for its own purpose, provider and person only. */
function sealedTokens({ services }: Pick<Call, "services">, { provider, userId, assertion }: Kept) {
  const seal = (token: string, kind: string) => services.vault.seal(token, `sso-${kind}:${provider.id}:${userId}`);
  const { accessToken, refreshToken } = assertion;
  return {
    accessTokenSealed: seal(accessToken, "access"),
    refreshTokenSealed: refreshToken === null ? null : seal(refreshToken, "refresh"),
  };
}

/**
 * Forgets every identity of a provider; answers how many. A subject is unique within its issuer only (OpenID Connect
 * Core 2): if the link were kept, a person with that subject at a new issuer could sign in as the person of the old one.
 */
export async function unlinkIdentities(tx: Tx, providerId: string): Promise<number> {
  const gone = await tx.deleteFrom("ssoIdentities").where("providerId", "=", providerId).executeTakeFirst();
  return Number(gone.numDeletedRows);
}

/** Forgets who a person is at every provider. */
export async function unlinkPerson(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom("ssoIdentities").where("userId", "=", userId).execute();
}
