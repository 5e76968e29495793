import type { Endpoint } from "#contract/core/endpoint";
import type { servicePrincipals } from "#contract/resources/credentials/service-principals";
import { orgForCreate, refuseSiteRestricted } from "#server/access/org-access";
import { user } from "#server/access/principal";
import { writeCredentials } from "#server/access/write-credentials";
import { isUniqueViolation } from "#server/db/dialect/violations";
import { delegable } from "#server/features/credentials/api-keys/delegation";
import type { Call } from "#server/http/call";
import { taken } from "#server/problem";
import { getServicePrincipal } from "./queries.ts";

type CreateCall = typeof servicePrincipals.create extends Endpoint<infer T> ? Call<T> : never;

/** Makes a principal without a key. A principal is organization-wide, so callers confined to sites make none. */
export async function createServicePrincipal(call: CreateCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const { name } = call.body;
    const org = await orgForCreate(call, call.body.orgId, tx);
    const id = call.random.uuid();
    const now = call.clock.now();
    call.audit.note({ resource: { id, name }, owner: { orgId: org.id } });
    const scopes = delegable(call, call.body.scopes);
    try {
      const principal = { id, orgId: org.id, name, scopes, status: "active" as const };
      const stamps = { createdBy: user(call).userId, lastUpdatedBy: null, createdAt: now, updatedAt: now };
      await writeCredentials(call, (all) =>
        all
          .insertInto("servicePrincipals")
          .values({ ...principal, ...stamps })
          .execute(),
      );
    } catch (error) {
      throw isUniqueViolation(error) ? taken("NAME_TAKEN", call.body.name, error) : error;
    }
    call.audit.note({ details: { scopes } });
    return getServicePrincipal(call, tx, id);
  });
}
