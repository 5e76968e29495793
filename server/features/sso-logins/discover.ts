import type { Endpoint } from "#contract/core/endpoint";
import type { ssoLogins } from "#contract/resources/sso-logins";
import { takeAttempt } from "#server/access/attempts";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { findActiveProvider } from "../sso-providers/queries.ts";
import { domainOf } from "./domain-of.ts";
import { buttonOf } from "./login-url.ts";
import { discoveryPerAddress } from "./rules.ts";

type DiscoverCall = typeof ssoLogins.discover extends Endpoint<infer T> ? Call<T> : never;

/** Keys on the domain alone and reads no user: real and invented addresses cannot be told apart (cases C22). */
export async function discoverSso(call: DiscoverCall) {
  await takeAttempt(call.services, discoveryPerAddress, call.ip ?? "unknown");
  const { email } = call.body;
  const provider = await call.readAsSystem("sign-in", async (db) => {
    const orgId = await onlyOwnerOf(db, domainOf(email));
    return orgId === undefined ? undefined : findActiveProvider(db, { orgId });
  });
  return { sso: buttonOf(provider) };
}

/** The organization that has proven the domain; none when two have. */
async function onlyOwnerOf(db: Reader, domain: string): Promise<string | undefined> {
  const owners = await db
    .selectFrom("ssoDomains")
    .innerJoin("organizations", "organizations.id", "ssoDomains.orgId")
    .select("ssoDomains.orgId")
    .where("ssoDomains.domain", "=", domain)
    .where("ssoDomains.verifiedAt", "is not", null)
    .where("organizations.deletedAt", "is", null)
    .limit(2)
    .execute();
  return owners.length === 1 ? owners[0]?.orgId : undefined;
}
