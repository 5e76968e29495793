import type { Endpoint } from "#contract/core/endpoint";
import type { partners } from "#contract/resources/tenancy/partners";
import { isUniqueViolation } from "#server/db/dialect/violations";
import type { Call } from "#server/http/call";
import { taken } from "#server/problem";
import { getPartner } from "./queries.ts";

type CreateCall = typeof partners.create extends Endpoint<infer T> ? Call<T> : never;

/** Creates a partner with status `active` (docs/tenancy.md, "Partner status"). */
export async function createPartner(call: CreateCall) {
  return call.transaction(async (tx) => {
    const id = call.random.uuid();
    const now = call.clock.now();
    call.audit.note({ resource: { id, name: call.body.name }, details: { slug: call.body.slug } });
    try {
      await tx
        .insertInto("partners")
        .values({
          id,
          ...call.body,
          status: "active",
          settings: {},
          ssoConfig: {},
          serviceManagementMode: "native",
          serviceManagementPsaConnectionId: null,
          createdAt: now,
          updatedAt: now,
          deletedAt: null,
        })
        .execute();
    } catch (error) {
      throw isUniqueViolation(error) ? taken("SLUG_TAKEN", call.body.slug, error) : error;
    }
    call.audit.note({ owner: { partnerId: id }, details: { type: call.body.type, plan: call.body.plan } });
    return getPartner(tx, id);
  });
}
