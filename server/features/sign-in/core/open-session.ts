import type { Membership } from "#server/access/membership";
import type { Tx } from "#server/db/unit-of-work";
import { noteSignIn } from "#server/features/people/core/note-sign-in";
import type { Call } from "#server/http/call";
import { after, DAY } from "#server/platform/clock";

/** A sign-in ends for good after this, however often it is refreshed. */
const SESSION_MS = 30 * DAY;

interface NewSession {
  userId: string;
  membership: Pick<Membership, "orgId" | "partnerId">;
  /** The second factor was given. */
  mfa: boolean;
  /** The identity provider that asserted the person's identity. */
  ssoProviderId: string | null;
}

/** Makes a session; tokens are another step. Needs an unscoped handle. */
export async function openSession(
  call: Pick<Call, "clock" | "random" | "ip" | "userAgent">,
  tx: Tx,
  { userId, membership, mfa, ssoProviderId }: NewSession,
) {
  const now = call.clock.now();
  const session = {
    id: call.random.uuid(),
    userId,
    createdAt: now,
    lastUsedAt: now,
    ipAddress: call.ip,
    userAgent: storable(call.userAgent),
    mfaVerifiedAt: mfa ? now : null,
    absoluteExpiresAt: after(now, SESSION_MS),
    revokedAt: null,
    revokedReason: null,
    ssoProviderId,
    memberOrgId: membership.orgId,
    memberPartnerId: membership.orgId === null ? membership.partnerId : null,
  };
  await tx.insertInto("sessions").values(session).execute();
  await noteSignIn(tx, userId, now);
  return session;
}

/** A header as both databases can keep it. */
export const storable = (userAgent: string | null): string | null =>
  userAgent?.slice(0, 1_000).toWellFormed().replaceAll("\u0000", "\uFFFD") ?? null;
