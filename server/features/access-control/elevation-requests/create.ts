import type { Endpoint } from "#contract/core/endpoint";
import type { elevationRequests } from "#contract/resources/access-control/elevation-requests";
import { outsideSites } from "#server/access/org-access";
import type { Tx } from "#server/db/unit-of-work";
import { getTarget } from "#server/features/fleet/device-commands/get-target";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import { holdMachine, refuseOutOfService, refuseOutOfUse } from "./hold.ts";
import { insertElevation } from "./insert-elevation.ts";
import { addLine } from "./ledger.ts";
import { getElevation, withWait } from "./queries.ts";
import { tierOnDevice } from "./risk-of-device.ts";
import { tellApprovers } from "./tell-approvers.ts";
import { eventData } from "./told-of.ts";

type CreateCall = typeof elevationRequests.create extends Endpoint<infer T> ? Call<T> : never;

/**
 * A technician asks for administrator rights (docs/elevation-requests.md, "Rights for a technician"). It waits for another
 * person, whatever the rules say.
 */
export async function createElevation(call: CreateCall) {
  return call.transaction(async (tx) => {
    const device = await getTarget(call, tx, call.body.deviceId);
    call.audit.note({ owner: { orgId: device.orgId }, siteIds: [device.siteId], details: { deviceId: device.id } });
    const id = await call.asSystem("decide elevations", (all) => ask(call, all, device));
    return { success: true as const, request: withWait(call)(await getElevation(call, tx, id)) };
  });
}

async function ask(call: CreateCall, tx: Tx, device: { id: string; orgId: string }): Promise<string> {
  const { services } = call;
  const { flowType, reason, subjectUsername = "", durationMinutes = null } = call.body;
  const { userId, name } = user(call);
  await refuseOutOfUse(tx, services, device.orgId);
  const machine = await holdMachine(tx, services, device.id);
  if (machine?.orgId !== device.orgId) throw problem("NOT_FOUND");
  if (outsideSites(call, machine.siteId)) throw problem("SITE_ACCESS_DENIED");
  refuseOutOfService(machine);
  await refuseSecond(tx, device, userId);
  const asked = await insertElevation(tx, services, {
    ...{ orgId: device.orgId, deviceId: machine.id, deviceHostname: machine.hostname, flowType, status: "pending" },
    ...{ subjectUsername, subjectUserId: userId, requestedByName: name, reason },
    requestedDurationMinutes: durationMinutes,
    riskTier: await tierOnDevice(tx, machine, call.clock.now()),
  });
  const by = { type: "user", id: userId, name } as const;
  await addLine(tx, services, asked, { event: "requested", by, facts: { reason, durationMinutes } });
  call.audit.note({
    resource: { type: "elevation_request", id: asked.id, name: asked.subjectUsername || null },
    details: { flowType, riskTier: asked.riskTier, durationMinutes, reason },
  });
  call.emit("elevation.requested", { orgId: asked.orgId, siteId: machine.siteId, data: eventData(asked) });
  await tellApprovers(tx, services, machine);
  return asked.id;
}

/** The device is held, so that two requests of one person do not pass each other. */
async function refuseSecond(tx: Tx, { id, orgId }: { id: string; orgId: string }, userId: string): Promise<void> {
  const open = await tx
    .selectFrom("elevationRequests")
    .select("id")
    .where("orgId", "=", orgId)
    .where("deviceId", "=", id)
    .where("subjectUserId", "=", userId)
    .where("status", "=", "pending")
    .executeTakeFirst();
  if (open) throw problem("ALREADY_PENDING", { details: { elevationRequestId: open.id } });
}
