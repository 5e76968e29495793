import type { Endpoint } from "#contract/core/endpoint";
import type { partnerServicePrincipals } from "#contract/resources/credentials/partner-service-principals";
import { user } from "#server/access/principal";
import { writeCredentials } from "#server/access/write-credentials";
import { changedFields } from "#server/audit/changed-fields";
import { isUniqueViolation } from "#server/db/dialect/violations";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { taken } from "#server/problem";
import { chosenOrgs, readableCidrs, refusePast } from "./checks.ts";
import { holdPrincipal, type PrincipalRow, shownPrincipal } from "./queries.ts";
import { delegable } from "./rules.ts";
import { setOrgs } from "./set-orgs.ts";

type UpdateCall = typeof partnerServicePrincipals.update extends Endpoint<infer T> ? Call<T> : never;

/** Counts for the next request of every key. Disabling stops all keys; enabling lets those that are left work again. */
export async function updatePartnerPrincipal(call: UpdateCall) {
  return call.transaction(async (tx) => {
    const before = await holdPrincipal(call, tx, call.params.id);
    const { orgIds: wantedOrgs, scopes, sourceCidrs, ...fields } = call.body;
    refusePast(call, fields.expiresAt);
    const change = {
      ...fields,
      ...(sourceCidrs === undefined ? {} : { sourceCidrs: readableCidrs(sourceCidrs) }),
      ...(scopes === undefined ? {} : { scopes: delegable(call, scopes) }),
    };
    const orgIds = await changedOrgs(tx, before, fields.orgAccess, wantedOrgs);
    try {
      const stamps = { updatedBy: user(call).userId, updatedAt: call.clock.now() };
      await writeCredentials(call, (all) =>
        all
          .updateTable("partnerServicePrincipals")
          .set({ ...change, ...stamps })
          .where("id", "=", before.id)
          .execute(),
      );
    } catch (error) {
      throw isUniqueViolation(error) ? taken("NAME_TAKEN", change.name ?? before.name, error) : error;
    }
    if (orgIds) await setOrgs(call, { partnerId: before.partnerId, principalId: before.id }, orgIds);
    call.audit.note({
      details: {
        changedFields: [...changedFields(before, change), ...(orgIds ? ["orgIds"] : [])],
        ...("scopes" in change ? { previousScopes: before.scopes, scopes: change.scopes } : {}),
      },
    });
    return shownPrincipal(tx, before.id);
  });
}

/** The organizations after this change, judged on the merged row; undefined = as before. */
async function changedOrgs(
  tx: Tx,
  before: PrincipalRow,
  orgAccess: "all" | "selected" = before.orgAccess,
  wanted: readonly string[] | undefined,
): Promise<string[] | undefined> {
  if (wanted !== undefined) return chosenOrgs(tx, before.partnerId, orgAccess, wanted);
  if (orgAccess === before.orgAccess) return undefined;
  return chosenOrgs(tx, before.partnerId, orgAccess, []);
}
