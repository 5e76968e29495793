import type { Endpoint } from "#contract/core/endpoint";
import type { partnerServicePrincipals } from "#contract/resources/credentials/partner-service-principals";
import { user } from "#server/access/principal";
import { writeCredentials } from "#server/access/write-credentials";
import { isUniqueViolation } from "#server/db/dialect/violations";
import type { Call } from "#server/http/call";
import { taken } from "#server/problem";
import { chosenOrgs, readableCidrs, refusePast } from "./checks.ts";
import { partnerFor, shownPrincipal } from "./queries.ts";
import { delegable } from "./rules.ts";
import { setOrgs } from "./set-orgs.ts";

type CreateCall = typeof partnerServicePrincipals.create extends Endpoint<infer T> ? Call<T> : never;

/**
 * Creates a principal without a key. Unless scopes are given it can only read
 * (docs/credentials.md, "Partner service principals").
 */
export async function createPartnerPrincipal(call: CreateCall) {
  return call.transaction(async (tx) => {
    const { partnerId: named, orgIds: wantedOrgs, ...fields } = call.body;
    const partnerId = await partnerFor(call, named, tx);
    const id = call.random.uuid();
    const now = call.clock.now();
    call.audit.note({ resource: { id, name: fields.name }, owner: { partnerId } });
    refusePast(call, fields.expiresAt);
    const sourceCidrs = readableCidrs(fields.sourceCidrs);
    const scopes = delegable(call, fields.scopes);
    const orgIds = await chosenOrgs(tx, partnerId, fields.orgAccess, wantedOrgs);
    try {
      const principal = { ...fields, id, partnerId, scopes, sourceCidrs, status: "active" as const };
      const stamps = { createdBy: user(call).userId, updatedBy: null, createdAt: now, updatedAt: now };
      await writeCredentials(call, (all) =>
        all
          .insertInto("partnerServicePrincipals")
          .values({ ...principal, ...stamps })
          .execute(),
      );
    } catch (error) {
      throw isUniqueViolation(error) ? taken("NAME_TAKEN", call.body.name, error) : error;
    }
    await setOrgs(call, { partnerId, principalId: id }, orgIds);
    const { orgAccess, expiresAt, rateLimit } = fields;
    call.audit.note({ details: { scopes, orgAccess, orgIds, expiresAt, sourceCidrs, rateLimit } });
    return shownPrincipal(tx, id);
  });
}
