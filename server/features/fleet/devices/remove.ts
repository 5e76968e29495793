import type { Endpoint } from "#contract/core/endpoint";
import type { devices } from "#contract/resources/fleet/devices";
import { getWritableOrg } from "#server/access/org-access";
import { insertCommand } from "#server/features/fleet/device-commands/insert-command";
import { tellDevice } from "#server/features/fleet/device-commands/signals";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { decommission } from "./decommission.ts";
import { getDevice } from "./queries.ts";
import { toldOfDevice } from "./told-of-device.ts";

type RemoveCall = typeof devices.remove extends Endpoint<infer T> ? Call<T> : never;

/**
 * Takes a device out of service; its row and history stay. With `uninstall` one command is left to it: to remove its
 * agent (docs/fleet.md, "Decommissioning").
 */
export async function removeDevice(call: RemoveCall) {
  return call.transaction(async (tx) => {
    const device = await getDevice(call, tx, call.params.id);
    call.audit.note({
      resource: { type: "device", id: device.id, name: device.hostname },
      owner: { orgId: device.orgId },
      siteIds: [device.siteId],
    });
    await getWritableOrg(call, device.orgId, tx);
    if (device.status === "decommissioned") throw problem("ALREADY_DECOMMISSIONED");
    const now = call.clock.now();
    const details = await call.asSystem("work commands", (all) =>
      decommission(all, call.services, { id: device.id, orgId: device.orgId, from: device.status, now }),
    );
    if (!details) throw problem("CONCURRENT_MODIFICATION");
    const uninstall = call.query.uninstall === true && device.agentId !== null;
    // Its watchdog need not stand in for it any more: the agent itself is to go.
    const target = { ...device, watchdogStatus: null };
    if (uninstall)
      await insertCommand(tx, call.services, {
        device: target,
        type: "self_uninstall",
        payload: { removeConfig: true },
      });
    call.audit.note({ details: { previousStatus: device.status, uninstall, ...details } });
    const { place, name } = await toldOfDevice(tx, device.id);
    call.emit("device.decommissioned", { ...place, data: name });
    call.afterCommit(() => tellDevice(call.services, device.id));
    return { success: true as const };
  });
}
