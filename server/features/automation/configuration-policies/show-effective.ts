import type { Endpoint } from "#contract/core/endpoint";
import { featureTypes } from "#contract/core/generated/policy-features";
import type { configurationPolicies } from "#contract/resources/automation/configuration-policies";
import { unseen } from "#server/access/site-access";
import type { Call } from "#server/http/call";
import { effectiveFeatures } from "./effective.ts";

type EffectiveCall = typeof configurationPolicies.effective extends Endpoint<infer T> ? Call<T> : never;

/** What holds for a device that the caller reaches (docs/configuration-policies.md, "Which policy holds"). */
export async function showEffective(call: EffectiveCall) {
  const { deviceId } = call.params;
  const device = await call.db.selectFrom("devices").select("id").where("id", "=", deviceId).executeTakeFirst();
  if (!device) throw await unseen(call, "devices", deviceId);
  return { deviceId, effective: await effectiveFeatures(call.db, { device, types: featureTypes }) };
}
