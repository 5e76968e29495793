import type { Endpoint } from "#contract/core/endpoint";
import type { elevationRequests } from "#contract/resources/access-control/elevation-requests";
import { outsideSites } from "#server/access/org-access";
import type { Tx } from "#server/db/unit-of-work";
import { getTarget } from "#server/features/fleet/device-commands/get-target";
import { insertCommand } from "#server/features/fleet/device-commands/insert-command";
import { tellDevice } from "#server/features/fleet/device-commands/signals";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { heldColumns } from "./columns.ts";
import { ORIGIN } from "./commands.ts";
import { holdElevation, holdMachine, refuseOutOfService, refuseOutOfUse } from "./hold.ts";
import { addLine } from "./ledger.ts";
import { leadingTo } from "./rules.ts";
import { isToolAction } from "./tool-action.ts";

type ActuateCall = typeof elevationRequests.actuate extends Endpoint<infer T> ? Call<T> : never;

/**
 * Tells the device to carry an approval out: once, within its window, in the transaction that queues the command
 * (docs/elevation-requests.md, "On the device"). The command names the request and carries no credential.
 */
export async function actuate(call: ActuateCall) {
  const device = await getTarget(call, call.db, call.params.id);
  call.audit.note({
    action: "device.elevation.actuate.rejected",
    resource: { type: "device", id: device.id, name: device.hostname },
    owner: { orgId: device.orgId },
    siteIds: [device.siteId],
  });
  if (!call.config.pamActuatorEnabled) throw problem("ACTUATOR_DISABLED");
  return call.transaction(() => call.asSystem("decide elevations", (tx) => actuateHeld(call, tx, device)));
}

const lost = (code: "wrong_status" | "race_lost", status: string) =>
  problem(code, { beside: { reason: code }, details: { status } });

async function actuateHeld(call: ActuateCall, tx: Tx, device: { id: string; orgId: string }) {
  const { services } = call;
  const { elevationRequestId: id, timeoutMs } = call.body;
  await refuseOutOfUse(tx, services, device.orgId);
  const machine = await holdMachine(tx, services, device.id);
  if (machine?.orgId !== device.orgId) throw problem("NOT_FOUND");
  if (outsideSites(call, machine.siteId)) throw problem("SITE_ACCESS_DENIED");
  refuseOutOfService(machine);
  const elevation = await holdElevation(tx, services, { id, orgId: device.orgId });
  if (elevation?.deviceId !== device.id) throw problem("NOT_FOUND");
  if (isToolAction(elevation)) throw lost("wrong_status", elevation.status);
  // Not before: one of another site is none of whoever reads the log of this device.
  call.audit.note({ details: { elevationRequestId: id } });
  if (elevation.status === "actuating") throw lost("race_lost", elevation.status);
  const now = services.clock.now();
  const claimed = await tx
    .updateTable("elevationRequests")
    .set({ status: "actuating", enforcementStatus: "dispatched" })
    .where("id", "=", id)
    .where("status", "in", leadingTo("actuating"))
    .where("expiresAt", ">", now)
    .returning(heldColumns)
    .executeTakeFirst();
  if (!claimed) throw lost("wrong_status", elevation.status);
  const commandId = await insertCommand(tx, services, {
    device: machine,
    type: "actuate_elevation",
    payload: { elevationRequestId: id, timeoutMs },
    createdBy: user(call).userId,
    origin: { kind: ORIGIN, id },
    waitMs: Date.parse(claimed.expiresAt as string) - Date.parse(now),
  });
  const { userId, name } = user(call);
  const by = { type: "user", id: userId, name } as const;
  await addLine(tx, services, claimed, { event: "command_executed", by, facts: { commandId, timeoutMs } });
  call.audit.note({ action: "device.elevation.actuate", details: { commandId } });
  call.afterCommit(() => tellDevice(services, machine.id));
  const queued = { id: commandId, deviceId: machine.id, type: "actuate_elevation" as const, status: "pending" };
  return { ...queued, elevationRequestId: id, createdAt: now };
}
