import type { Membership } from "#server/access/membership";
import type { Tx } from "#server/db/unit-of-work";
import { noteSignIn } from "#server/features/people/core/note-sign-in";
import type { Call } from "#server/http/call";
import { after, DAY, HOUR } from "#server/platform/clock";

/** A sign-in ends for good after this, however often it is refreshed. */
const SESSION_MS = 30 * DAY;
/** An identity provider is asked again every half day: it knows who has left. Nor do passwords that break glass last. */
const SHORT_SESSION_MS = 12 * HOUR;

interface NewSession {
  userId: string;
  membership: Pick<Membership, "id" | "scope" | "orgId" | "partnerId">;
  /** The second factor was given. */
  mfa: boolean;
  /** Where the session follows from another one: its end, and when the second factor was given there. */
  follows?: { absoluteExpiresAt: string; mfaVerifiedAt: string | null };
  /** The identity provider that asserted the person's identity. */
  ssoProviderId: string | null;
  /** The tenant enforces single sign-on. */
  enforced?: boolean;
}

/** Makes a session; tokens are another step. Needs an unscoped handle. */
export async function openSession(
  call: Pick<Call, "clock" | "random" | "ip" | "userAgent">,
  tx: Tx,
  { userId, membership, mfa, ssoProviderId, enforced = false, follows }: NewSession,
) {
  const now = call.clock.now();
  const session = {
    id: call.random.uuid(),
    userId,
    createdAt: now,
    lastUsedAt: now,
    ipAddress: call.ip,
    userAgent: storable(call.userAgent),
    mfaVerifiedAt: follows ? follows.mfaVerifiedAt : mfa ? now : null,
    absoluteExpiresAt:
      follows?.absoluteExpiresAt ?? after(now, ssoProviderId !== null || enforced ? SHORT_SESSION_MS : SESSION_MS),
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
