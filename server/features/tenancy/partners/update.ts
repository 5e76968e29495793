import type { Endpoint } from "#contract/core/endpoint";
import type { partners } from "#contract/resources/tenancy/partners";
import { user } from "#server/access/principal";
import { changedFields } from "#server/audit/changed-fields";
import { lockRow } from "#server/db/dialect/locks";
import { isUniqueViolation } from "#server/db/dialect/violations";
import { refuseBillingChange } from "#server/features/tenancy/core/billing-settings";
import type { Call } from "#server/http/call";
import { problem, taken } from "#server/problem";
import { getPartner } from "./queries.ts";
import { isOnlyServerOwned, mergeSettings, servicePairProblem } from "./rules.ts";

type UpdateCall = typeof partners.update extends Endpoint<infer T> ? Call<T> : never;
type UpdateMineCall = typeof partners.updateMine extends Endpoint<infer T> ? Call<T> : never;

/** Changes any field; `suspended` and `churned` refuse the tenant's users and keys until it is `active` again. */
export const updatePartner = (call: UpdateCall) => change(call, call.params.id, call.body);

/** Changes that a partner may make to itself (docs/tenancy.md, "Partners"). */
export function updateOwnPartner(call: UpdateMineCall) {
  const { partnerId } = user(call);
  if (partnerId === null) throw problem("PARTNER_CONTEXT_REQUIRED");
  return change(call, partnerId, call.body);
}

/** Settings are merged under a lock: parallel changes of different keys both survive. */
async function change(call: Call, id: string, given: UpdateCall["body"]) {
  if (Object.keys(given).length === 1 && given.settings && isOnlyServerOwned(given.settings))
    throw problem("NO_UPDATES", {
      details: { settings: "organizationOrder is set by PATCH /orgs/organizations/order" },
    });
  return call.transaction(async (tx) => {
    await lockRow(tx, call.services.store.dialect, "partners", id);
    const before = await getPartner(tx, id);
    call.audit.note({ resource: { id, name: before.name }, owner: { partnerId: id } });
    const { settings: settingsChange, ...fields } = given;
    const settings = settingsChange ? mergeSettings(before.settings, settingsChange) : before.settings;
    refuseBillingChange(call, before.settings, settings);
    const code = servicePairProblem({ ...before, ...fields });
    if (code) throw problem(code);
    try {
      await tx
        .updateTable("partners")
        .set({ ...fields, settings, updatedAt: call.clock.now() })
        .where("id", "=", id)
        .execute();
    } catch (error) {
      throw isUniqueViolation(error) ? taken("SLUG_TAKEN", fields.slug ?? before.slug, error) : error;
    }
    call.audit.note({
      details: {
        changedFields: [
          ...changedFields(before, fields),
          ...changedKeys(before.settings, settings).map((name) => `settings.${name}`),
        ],
        ...(fields.status !== undefined && fields.status !== before.status
          ? { fromStatus: before.status, toStatus: fields.status }
          : {}),
      },
    });
    return getPartner(tx, id);
  });
}

/** Keys that were added, altered or removed. */
function changedKeys(before: Record<string, unknown>, after: Record<string, unknown>): string[] {
  const removed = Object.keys(before).filter((name) => !(name in after));
  return [...changedFields(before, after), ...removed];
}
