import type { Endpoint } from "#contract/core/endpoint";
import type { memberships } from "#contract/resources/people/memberships";
import { isEnforced } from "#server/access/enforcement";
import { ownerOf } from "#server/access/membership";
import { candidatesOf, usable } from "#server/access/membership-candidates";
import { selectMembership } from "#server/features/people/core/change-membership";
import { openSession } from "#server/features/sign-in/core/open-session";
import { issueTokens } from "#server/features/sign-in/core/tokens";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";

type SelectCall = typeof memberships.select extends Endpoint<infer T> ? Call<T> : never;

/**
 * Begins a session in another of the caller's memberships, which the next sign-in takes too. An identity provider speaks
 * for its own tenant alone, so only a password goes on elsewhere; the new session ends when this one would.
 */
export async function selectOwn(call: SelectCall) {
  const who = user(call);
  call.audit.note({ resource: { type: "user", id: who.userId, name: who.name } });
  if (who.ssoProviderId !== null) throw problem("HOME_SESSION_REQUIRED");
  return call.transaction(() =>
    call.asSystem("own memberships", async (tx) => {
      const candidates = await candidatesOf(tx, who.userId);
      const chosen = candidates.find(({ membership }) => membership.id === call.params.id);
      if (!chosen || !usable(chosen)) throw problem("NOT_FOUND");
      const { membership } = chosen;
      call.audit.note({ owner: ownerOf(membership) });
      if (await isEnforced(tx, call.services.store.dialect, membership)) throw problem("SSO_REQUIRED");
      const from = await tx
        .selectFrom("sessions")
        .select(["absoluteExpiresAt", "mfaVerifiedAt"])
        .where("id", "=", who.sessionId)
        .where("revokedAt", "is", null)
        .executeTakeFirst();
      if (!from) throw problem("UNAUTHENTICATED");
      await selectMembership(tx, who.userId, call.params.id);
      const mfa = from.mfaVerifiedAt !== null;
      const begun = { userId: who.userId, membership, mfa, ssoProviderId: null, follows: from };
      const session = await openSession(call, tx, begun);
      call.audit.note({ details: { sessionId: session.id, fromSessionId: who.sessionId } });
      return issueTokens(call, tx, { ...session, mfa }, membership);
    }),
  );
}
