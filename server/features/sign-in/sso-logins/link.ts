import { membershipIn, ownerOf } from "#server/access/membership";
import { lockText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { findUserById, type SignInUser } from "#server/features/people/core/find-user";
import { noteUser } from "#server/features/sign-in/core/note-user";
import { proofOf } from "#server/features/sign-in/core/proof-of";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import { findIdentity, keepIdentity } from "#server/features/sign-in/sso-providers/keep-identity";
import type { Call } from "#server/http/call";
import { sameText } from "#server/platform/vault";
import type { Assertion } from "./assertion.ts";
import type { LinkTarget } from "./login-session.ts";
import { recheckProvider } from "./recheck-provider.ts";
import { rejection } from "./rejection.ts";

interface Link {
  provider: ProviderRow;
  assertion: Assertion;
  target: LinkTarget;
}

/**
 * Links the identity to the account whose session asked for it; makes no session
 * (docs/single-sign-on.md, "Linking an identity").
 */
export function linkIdentity(call: Call, { provider, assertion, target }: Link): Promise<string> {
  return call.transaction(() =>
    call.asSystem("sign-in", async (tx) => {
      await recheckProvider(call, tx, provider);
      await lockText(tx, call.services.store.dialect, `user-email:${assertion.profile.email}`);
      const user = await accountOf(call, tx, provider, target);
      noteUser(call, user);
      await refuseEnded(call, tx, target, user);
      if (user.email !== assertion.profile.email) throw rejection("email_mismatch", "account");
      const linked = await findIdentity(tx, provider.id, assertion.subject);
      if (linked && linked.userId !== user.id) throw rejection("identity_in_use", "account");
      await keepIdentity(call, tx, { provider, userId: user.id, assertion });
      call.audit.note({
        action: "sso.identity.linked",
        details: { providerId: provider.id, providerName: provider.name, sessionId: target.sessionId },
      });
      return "/settings/profile?ssoLinked=1";
    }),
  );
}

async function accountOf(call: Call, tx: Tx, provider: ProviderRow, target: LinkTarget): Promise<SignInUser> {
  const user = await findUserById(tx, target.userId);
  const member = user?.status === "active" ? await membershipIn(tx, user.id, provider) : undefined;
  if (!user || !member?.usable) throw rejection("user_gone", "account");
  call.audit.note({ owner: ownerOf(member.membership) });
  return user;
}

/** The session that asked must still be good, and password and factor the ones it had. */
async function refuseEnded(call: Call, tx: Tx, target: LinkTarget, user: SignInUser): Promise<void> {
  const session = await tx
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", target.sessionId)
    .where("userId", "=", user.id)
    .where("revokedAt", "is", null)
    .where("absoluteExpiresAt", ">", call.clock.now())
    .executeTakeFirst();
  if (!session || !sameText(proofOf(user), target.authEpoch)) throw rejection("session_invalid", "account");
}
