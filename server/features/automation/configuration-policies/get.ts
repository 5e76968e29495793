import type { Endpoint } from "#contract/core/endpoint";
import type { configurationPolicies } from "#contract/resources/automation/configuration-policies";
import type { Call } from "#server/http/call";
import { appliedDevices } from "./applied.ts";
import { getPolicy } from "./seen.ts";
import { shownPolicy } from "./shown.ts";

type GetCall = typeof configurationPolicies.get extends Endpoint<infer T> ? Call<T> : never;

export async function showPolicy(call: GetCall) {
  const policy = await getPolicy(call, call.db, call.params.id);
  return { ...(await shownPolicy(call, call.db, policy)), appliedDeviceCount: await appliedDevices(call.db, policy) };
}
