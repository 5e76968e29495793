import { type Membership, membershipIn, ownerOf } from "#server/access/membership";
import { lockText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { findUserById, type SignInUser } from "#server/features/people/core/find-user";
import { noteUser } from "#server/features/sign-in/core/note-user";
import { openSession } from "#server/features/sign-in/core/open-session";
import type { ProviderRow } from "#server/features/sign-in/sso-providers/find-active-provider";
import { keepIdentity } from "#server/features/sign-in/sso-providers/keep-identity";
import type { Call } from "#server/http/call";
import { after } from "#server/platform/clock";
import { sha256 } from "#server/platform/vault";
import type { Assertion } from "./assertion.ts";
import { acceptThroughProvider, findPerson, refuseDisabled } from "./person.ts";
import { provisionPerson } from "./provision.ts";
import { recheckProvider } from "./recheck-provider.ts";
import { rejection } from "./rejection.ts";
import { EXCHANGE_CODE_MS } from "./rules.ts";

interface Admission {
  provider: ProviderRow;
  assertion: Assertion;
  redirectPath: string;
  /** What the exchange must prove. */
  challenge: string | null;
}

/**
 * Signs in the person whose identity the provider asserted: identity link, session, one-time code and audit entry in
 * one transaction, or nothing. No token exists yet: the exchange makes the pair, so that none is stored.
 */
export function admitPerson(call: Call, { provider, assertion, redirectPath, challenge }: Admission): Promise<string> {
  return call.transaction(() =>
    call.asSystem("sign-in", async (tx) => {
      await recheckProvider(call, tx, provider);
      // Two first sign-ins of one person at the same moment make one account.
      await lockText(tx, call.services.store.dialect, `user-email:${assertion.profile.email}`);
      const found = await findPerson(call, tx, provider, assertion);
      const userId = found?.id ?? (await provisionPerson(call, tx, provider, assertion));
      const user = (await findUserById(tx, userId)) as SignInUser;
      noteUser(call, user);
      await acceptThroughProvider(call, tx, provider, user);
      const membership = await memberOf(tx, provider, user);
      refuseDisabled(user);
      await keepIdentity(call, tx, { provider, userId, assertion });
      const { mfa } = assertion;
      const session = await openSession(call, tx, { userId, membership, mfa, ssoProviderId: provider.id });
      const code = await issueExchangeCode(call, tx, { sessionId: session.id, challenge });
      call.audit.note({
        action: "user.login",
        details: { method: "sso", mfa, sessionId: session.id, providerId: provider.id, provisioned: !found },
      });
      const data = { userId, userName: user.name, method: "sso" as const, mfa };
      call.emit("user.login", { ...ownerOf(membership), data });
      return `${redirectPath}#ssoCode=${code}`;
    }),
  );
}

/**
 * The session counts in the provider's own tenant and nowhere else, whatever other memberships the person has: an
 * organization chooses its identity provider, which must not speak for people in other tenants.
 */
async function memberOf(tx: Tx, provider: ProviderRow, user: SignInUser): Promise<Membership> {
  const ofOrganization = provider.orgId !== null;
  const member = await membershipIn(tx, user.id, provider);
  if (!member?.usable) {
    const reason = member ? "tenant_closed" : "no_membership";
    throw rejection(ofOrganization ? "no_org_access" : "no_partner_access", "account", reason);
  }
  if (member.roleScope !== (ofOrganization ? "organization" : "partner"))
    throw rejection("invalid_role_scope", "account");
  return member.membership;
}

/** 48 characters, two minutes, once; only its hash is stored. */
async function issueExchangeCode(
  call: Pick<Call, "clock" | "random">,
  tx: Tx,
  of: { sessionId: string; challenge: string | null },
): Promise<string> {
  const code = call.random.bytes(36).toString("base64url");
  const createdAt = call.clock.now();
  const expiresAt = after(createdAt, EXCHANGE_CODE_MS);
  await tx
    .insertInto("ssoExchangeCodes")
    .values({ codeHash: sha256(code), ...of, createdAt, expiresAt })
    .execute();
  return code;
}
