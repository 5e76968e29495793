import type { Reader } from "#server/db/unit-of-work";
import { noPolicy, type Policy } from "./rules.ts";

/** What the partner that owns an organization demands, whoever approves there. Needs an unscoped handle. */
export async function policyOver(db: Reader, orgId: string): Promise<Policy> {
  const row = await db
    .selectFrom("authenticatorPolicies")
    .innerJoin("organizations", "organizations.partnerId", "authenticatorPolicies.partnerId")
    .select([
      "authenticatorPolicies.floorOverrides",
      "authenticatorPolicies.requireEnrollment",
      "authenticatorPolicies.enforceFrom",
    ])
    .where("organizations.id", "=", orgId)
    .executeTakeFirst();
  return row ?? noPolicy;
}
