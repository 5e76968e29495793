import type { Endpoint } from "#contract/core/endpoint";
import type { threats } from "#contract/resources/security/threats";
import { getTarget } from "#server/features/fleet/device-commands/get-target";
import type { Call } from "#server/http/call";
import { threatPage } from "./threat-page.ts";

type DeviceCall = typeof threats.ofDevice extends Endpoint<infer T> ? Call<T> : never;

/** Also of a device that is out of service (docs/security.md, "Threats"). */
export async function listThreatsOfDevice(call: DeviceCall) {
  const { id: deviceId, orgId } = await getTarget(call, call.db, call.params.deviceId);
  return threatPage(call, { orgId, deviceId });
}
