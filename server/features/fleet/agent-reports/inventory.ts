import type { Endpoint } from "#contract/core/endpoint";
import type { agentReports } from "#contract/resources/fleet/agent-reports";
import { tellIdentity } from "#server/features/fleet/agents/identity-change";
import { ignoredFields } from "#server/features/fleet/agents/ignored-fields";
import { noteSourceIp } from "#server/features/fleet/agents/source-ip";
import { replaceDisks } from "#server/features/fleet/devices/disks";
import { holdDevice } from "#server/features/fleet/devices/hold-device";
import { replaceHardware, replaceInterfaces } from "#server/features/fleet/devices/inventory";
import type { Call } from "#server/http/call";
import { takeReport } from "./take-report.ts";

type InventoryCall = typeof agentReports.inventory extends Endpoint<infer T> ? Call<T> : never;

/** Replaces the sections that are given, all of them or none (docs/fleet.md, "Inventory"). */
export async function reportInventory(call: InventoryCall) {
  const who = await takeReport(call, "inventory");
  const { hardware, disks, network } = call.body;
  const device = { id: who.deviceId, orgId: who.orgId };
  await call.transaction(async (tx) => {
    await holdDevice(tx, call.services, device.id);
    await noteSourceIp(call, tx, who);
    const serial = hardware && (await replaceHardware(tx, device, hardware, call.clock.now()));
    if (disks) await replaceDisks(tx, device, disks, call.random);
    if (network) await replaceInterfaces(tx, device, network, call.random);
    if (serial) await tellIdentity(call, tx, who, { serialNumber: serial });
  });
  const count = (hardware ? 1 : 0) + (disks?.length ?? 0) + (network?.length ?? 0);
  return { success: true as const, count, ...ignoredFields(call) };
}
