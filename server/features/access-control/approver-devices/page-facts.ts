import { elevationFacts } from "#contract/core/elevation-facts";
import type { Endpoint } from "#contract/core/endpoint";
import type { approverDevices } from "#contract/resources/access-control/approver-devices";
import type { Reader } from "#server/db/unit-of-work";
import { waitingFor } from "#server/features/people/core/approver-challenges";
import { activeDevicesOf } from "#server/features/people/core/approver-devices";
import { findUserById } from "#server/features/people/core/find-user";
import type { Call } from "#server/http/call";
import { sha256 } from "#server/platform/vault";
import { problem } from "#server/problem";
import { assertionOf, registrationOf } from "./options.ts";
import { relyingParty } from "./relying-party.ts";

type FactsCall = typeof approverDevices.pageFacts extends Endpoint<infer T> ? Call<T> : never;

/**
 * What the page shows before a device signs: who is asked, and everything that is decided on, from the database. The
 * address that opened the page says none of it, so nobody can show one request and have another signed.
 */
export async function tellPage(call: FactsCall) {
  const party = relyingParty(call.config);
  const now = call.clock.now();
  return call.readAsSystem("decide elevations", async (db) => {
    const waiting = await waitingFor(db, sha256(call.body.challenge), now);
    if (!waiting || !(await isOpen(db, waiting.sessionId, now))) return ended();
    const account = await findUserById(db, waiting.userId);
    if (account?.status !== "active") return ended();
    const devices = await activeDevicesOf(db, account.id);
    const { email } = account;
    if (waiting.elevationRequestId === null)
      return { account: email, facts: [], registration: registrationOf(party, account, devices), assertion: null };
    const request = await decidedOn(db, waiting.elevationRequestId);
    if (request?.status !== "pending") return ended();
    const facts = [
      { name: "Organization", value: request.organizationName },
      ...elevationFacts(request, request.requestedAt),
    ];
    return { account: email, facts, registration: null, assertion: assertionOf(party, devices) };
  });
}

const ended = (): never => {
  throw problem("INVALID_TOKEN");
};

/** A challenge of a session that has ended is for nobody. */
async function isOpen(db: Reader, sessionId: string, now: string): Promise<boolean> {
  const session = await db
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", sessionId)
    .where("revokedAt", "is", null)
    .where("absoluteExpiresAt", ">", now)
    .executeTakeFirst();
  return session !== undefined;
}

/** The request with the names of where its device stands. */
const decidedOn = (db: Reader, id: string) =>
  db
    .selectFrom("elevationRequests")
    .innerJoin("organizations", "organizations.id", "elevationRequests.orgId")
    .leftJoin("devices", (join) =>
      join
        .onRef("devices.id", "=", "elevationRequests.deviceId")
        .onRef("devices.orgId", "=", "elevationRequests.orgId"),
    )
    .leftJoin("sites", "sites.id", "devices.siteId")
    .selectAll("elevationRequests")
    .select(["organizations.name as organizationName", "sites.name as siteName"])
    .where("elevationRequests.id", "=", id)
    .executeTakeFirst();
