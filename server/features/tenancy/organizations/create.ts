import type { Endpoint } from "#contract/core/endpoint";
import type { organizations } from "#contract/resources/tenancy/organizations";
import { grantOrganization } from "#server/features/people/core/grant-organization";
import { refuseBillingChange } from "#server/features/tenancy/core/billing-settings";
import { type Call, user } from "#server/http/call";
import { invalid, problem } from "#server/problem";
import { insertOrganization } from "./insert.ts";
import { getOrganization } from "./queries.ts";

type CreateCall = typeof organizations.create extends Endpoint<infer T> ? Call<T> : never;

/** Creates an organization within its partner's cap (docs/tenancy.md, "Creating an organization"). */
export async function createOrganization(call: CreateCall) {
  const { partnerId: _named, ...fields } = call.body;
  refuseEndBeforeStart(fields);
  refuseBillingChange(call, {}, fields.settings);
  const partnerId = partnerOf(call);
  return call.transaction(async (tx) => {
    const id = await insertOrganization(call, tx, partnerId, fields);
    await grantToCreator(call, partnerId, id);
    call.audit.note({
      resource: { id, name: fields.name },
      owner: { orgId: id },
      details: { partnerId, status: fields.status, type: fields.type },
    });
    return getOrganization(tx, id);
  });
}

/** Partner scope implies the partner, system scope names it (docs/tenancy.md, "Creating an organization"). */
function partnerOf(call: CreateCall): string {
  const who = user(call);
  const named = call.body.partnerId;
  if (who.scope === "system") {
    if (named === undefined) throw problem("PARTNER_ID_REQUIRED");
    return named;
  }
  if (who.partnerId === null) throw problem("PARTNER_CONTEXT_REQUIRED");
  if (named !== undefined && named !== who.partnerId) throw problem("PARTNER_ACCESS_DENIED");
  if (who.orgAccess === "none") throw problem("FORBIDDEN");
  return who.partnerId;
}

/** A creator confined to selected organizations reaches the one it made. */
async function grantToCreator(call: CreateCall, partnerId: string, orgId: string): Promise<void> {
  const who = user(call);
  if (who.orgAccess !== "selected" || who.membershipId === null) return;
  await grantOrganization(call, { partnerId, membershipId: who.membershipId, orgId });
}

export function refuseEndBeforeStart(contract: { contractStart?: string | null; contractEnd?: string | null }): void {
  const { contractStart, contractEnd } = contract;
  if (contractStart && contractEnd && contractEnd < contractStart) {
    throw invalid({ path: "contractEnd", message: "contractEnd must not be before contractStart" });
  }
}
