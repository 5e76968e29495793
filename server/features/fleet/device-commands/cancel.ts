import type { Endpoint } from "#contract/core/endpoint";
import type { deviceCommands } from "#contract/resources/fleet/device-commands";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { commandView } from "./command-view.ts";
import { endOne } from "./end-open-commands.ts";
import { getTarget } from "./get-target.ts";
import { getCommand } from "./queries.ts";
import { refusalOf } from "./rules.ts";

type CancelCall = typeof deviceCommands.cancel extends Endpoint<infer T> ? Call<T> : never;

/** Takes back what no agent has claimed (docs/fleet.md, "Commands"). */
export async function cancelCommand(call: CancelCall) {
  const device = await getTarget(call, call.db, call.params.id);
  const { id, type, status } = await getCommand(call.db, device, call.params.commandId);
  call.audit.note({
    resource: { type: "device", id: device.id, name: device.hostname },
    owner: { orgId: device.orgId },
    siteIds: [device.siteId],
    details: { commandId: id, type },
  });
  // What waits for it then is its own uninstall.
  if (refusalOf(device.status) === "DEVICE_DECOMMISSIONED") throw problem("DEVICE_DECOMMISSIONED");
  // Who keeps a device from ending rights that were taken back, keeps the rights.
  if (type === "revoke_elevation") throw problem("INVALID_STATE", { details: { status, type } });
  // The room of its type hears of it, whatever it keeps.
  return call.transaction(() =>
    call.asSystem("work commands", async (tx) => {
      const now = call.services.clock.now();
      const taken = await endOne(tx, call.services, { id, status: "pending", reason: "cancelled", now });
      const command = await getCommand(tx, device, id);
      if (!taken) throw problem("INVALID_STATE", { details: { status: command.status } });
      return commandView(command);
    }),
  );
}
