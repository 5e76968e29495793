import { emitEvents } from "#server/events/emit";
import type { CommandEvent } from "#server/room-hooks";
import { decommission } from "./decommission.ts";
import { forgetTokens } from "./sever-agents.ts";
import { toldOfDevice } from "./told-of-device.ts";

/** The agent says that it is gone: so is the device, with its tokens (docs/fleet.md, "Decommissioning"). */
export async function noteUninstalled({ tx, services, now, command }: CommandEvent): Promise<Record<string, unknown>> {
  const { type, deviceId, result } = command;
  if (type !== "self_uninstall" || deviceId === null || result["status"] !== "completed") return {};
  const device = await tx
    .selectFrom("devices")
    .select(["id", "orgId", "status"])
    .where("id", "=", deviceId)
    .executeTakeFirst();
  if (!device) return {};
  const { id, orgId, status: from } = device;
  if (from !== "decommissioned") {
    if (!(await decommission(tx, services, { id, orgId, from, now }))) throw new Error("the device changes its status");
    const { place, name } = await toldOfDevice(tx, id);
    await emitEvents(tx, services, "device.decommissioned", [{ ...place, data: name }]);
  }
  await forgetTokens(tx, id, now);
  return from === "decommissioned" ? {} : { decommissioned: true };
}
