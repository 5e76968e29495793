import type { Endpoint } from "#contract/core/endpoint";
import type { ssoLogins } from "#contract/resources/sign-in/sso-logins";
import { findUserById } from "#server/features/people/core/find-user";
import { proofOf } from "#server/features/sign-in/core/proof-of";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { beginAtProvider } from "./authorization-url.ts";
import { ownAxis } from "./link-options.ts";

type StartLinkCall = typeof ssoLogins.startLink extends Endpoint<infer T> ? Call<T> : never;

/** Begins the round trip that ends in the caller's own account; a provider of another tenant does not exist. */
export async function startLink(call: StartLinkCall) {
  const who = user(call);
  const owner = ownAxis(who);
  const { provider, account } = await call.readAsSystem("sign-in", async (db) => ({
    provider: await db
      .selectFrom("ssoProviders")
      .selectAll()
      .where("id", "=", call.params.providerId)
      .where("status", "=", "active")
      .executeTakeFirst(),
    account: await findUserById(db, who.userId),
  }));
  const isOwn =
    provider && ("orgId" in owner ? provider.orgId === owner.orgId : provider.partnerId === owner.partnerId);
  if (!isOwn || !account) throw problem("NOT_FOUND");
  const link = { userId: who.userId, sessionId: who.sessionId, authEpoch: proofOf(account) };
  return { authUrl: await beginAtProvider(call, { provider, redirectPath: "/settings/profile", link }) };
}
