import type { Endpoint } from "#contract/core/endpoint";
import type { approverDevices } from "#contract/resources/access-control/approver-devices";
import type { Reader } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { noPolicy, type Policy } from "./rules.ts";

type PolicyCall = typeof approverDevices.policy extends Endpoint<infer T> ? Call<T> : never;

/** Of the caller's own partner; system scope names one. */
export async function showPolicy(call: PolicyCall): Promise<Policy> {
  return storedPolicy(call.db, await partnerOf(call));
}

/** Without a row nothing is demanded. */
export async function storedPolicy(db: Reader, partnerId: string): Promise<Policy> {
  const row = await db
    .selectFrom("authenticatorPolicies")
    .select(["floorOverrides", "requireEnrollment", "enforceFrom"])
    .where("partnerId", "=", partnerId)
    .executeTakeFirst();
  return row ?? noPolicy;
}

async function partnerOf(call: PolicyCall): Promise<string> {
  const { scope, partnerId } = user(call);
  const named = call.query.partnerId;
  if (scope !== "system") {
    if (partnerId === null || (named !== undefined && named !== partnerId)) throw problem("PARTNER_ACCESS_DENIED");
    return partnerId;
  }
  if (named === undefined) throw problem("PARTNER_ID_REQUIRED");
  const partner = await call.db.selectFrom("partners").select("id").where("id", "=", named).executeTakeFirst();
  if (!partner) throw problem("NOT_FOUND");
  return named;
}
