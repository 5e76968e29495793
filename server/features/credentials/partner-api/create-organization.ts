import type { Endpoint } from "#contract/core/endpoint";
import type { partnerApi } from "#contract/resources/credentials/partner-api";
import { partnerPrincipal } from "#server/access/principal";
import { addOrg } from "#server/features/credentials/partner-service-principals/set-orgs";
import { insertOrganization } from "#server/features/tenancy/organizations/insert";
import type { Call } from "#server/http/call";
import { takeWrite } from "./budgets.ts";
import { exportedOrganization } from "./organizations.ts";
import { recordedWrite } from "./record-write.ts";

type CreateCall = typeof partnerApi.createOrganization extends Endpoint<infer T> ? Call<T> : never;

/** Creates an organization of the key's partner, within the partner's cap (docs/credentials.md, "Partner writes"). */
export async function createOrganization(call: CreateCall) {
  const { partnerId, principalId, orgAccess } = partnerPrincipal(call);
  const { name, slug, type, status } = call.body;
  return recordedWrite(call, "organizations", async (tx) => {
    await takeWrite(call);
    const id = await insertOrganization(call, tx, partnerId, {
      name,
      slug,
      type,
      status,
      maxDevices: null,
      settings: {},
      contractStart: null,
      contractEnd: null,
      billingContact: null,
    });
    if (orgAccess === "selected") await addOrg(call, { partnerId, principalId }, id);
    const data = await exportedOrganization(call, tx, id);
    return {
      answer: { schemaVersion: "1" as const, data },
      written: { action: "organization.create", orgId: id, id, name, details: { partnerId, status, type } },
    };
  });
}
