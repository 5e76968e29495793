import { plainMembership } from "#fixtures/nouns/people/users";
import { plainSession } from "#fixtures/nouns/sign-in/sessions";
import { plainProvider } from "#fixtures/nouns/sign-in/sso-providers";
import { builtInRoleId } from "#server/access/roles";
import type { SignedInUser, TestServer } from "./harness.ts";

interface Joined {
  userId: string;
  orgId: string;
  role?: string;
  /** An invitation that the person has not accepted. */
  invited?: { name: string; email: string };
}

/** Inserts a membership of an organization without the API. */
export async function joinOrganization(server: TestServer, { userId, orgId, role, invited }: Joined): Promise<string> {
  const id = server.services.random.uuid();
  const roleId = builtInRoleId(role ?? "Org Admin");
  await server.db
    .insertInto("organizationUsers")
    .values({ ...plainMembership(server.clock.now(), invited), id, orgId, userId, roleId, siteIds: null })
    .execute();
  return id;
}

/** A session that the organization's identity provider started, with the second factor confirmed. */
export async function providerSession(server: TestServer, at: { userId: string; orgId: string; providerId: string }) {
  const { random, clock, accessTokens } = server.services;
  const [id, now] = [random.uuid(), clock.now()];
  await server.db
    .insertInto("sessions")
    .values({
      id,
      userId: at.userId,
      ...plainSession(now),
      ssoProviderId: at.providerId,
      memberOrgId: at.orgId,
      memberPartnerId: null,
    })
    .execute();
  const claims = { sub: at.userId, sid: id, scope: "organization", partnerId: null, orgId: at.orgId } as const;
  const roleId = builtInRoleId("Org Admin");
  return { sessionId: id, token: accessTokens.sign({ ...claims, roleId, mfa: true, jti: random.uuid() }) };
}

/** The same person, who belongs to another organization too, as the provider of this one signs them in: no home session. */
export async function guestOf(
  { server, orgId, otherOrgId }: { server: TestServer; orgId: string; otherOrgId: string },
  who: SignedInUser,
): Promise<SignedInUser> {
  await joinOrganization(server, { userId: who.userId, orgId: otherOrgId });
  const providerId = server.services.random.uuid();
  const provider = { ...plainProvider(server.clock.now()), id: providerId, orgId, partnerId: null, createdBy: null };
  await server.db.insertInto("ssoProviders").values(provider).execute();
  return { ...who, ...(await providerSession(server, { userId: who.userId, orgId, providerId })) };
}
