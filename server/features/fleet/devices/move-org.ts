import type { Endpoint } from "#contract/core/endpoint";
import type { devices } from "#contract/resources/fleet/devices";
import { findOrg, getNamedOrg } from "#server/access/org-access";
import { tellDevice } from "#server/features/fleet/device-commands/signals";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { carryOver } from "./carry-over.ts";
import { nameOfDevice } from "./name-of-device.ts";
import { getDevice } from "./queries.ts";

type MoveCall = typeof devices.moveOrg extends Endpoint<infer T> ? Call<T> : never;

/**
 * Moves a device to another organization of its partner (docs/fleet.md, "Moving to another organization"). Each of the
 * two organizations is told of its own side alone.
 */
export async function moveDevice(call: MoveCall) {
  return call.transaction(async (tx) => {
    const before = await getDevice(call, tx, call.params.id);
    const { id, orgId, hostname } = before;
    const resource = { type: "device", id, name: hostname };
    call.audit.note({ resource, owner: { orgId }, siteIds: [before.siteId] });
    const target = await getNamedOrg(call, call.body.orgId, tx);
    if (target.id === orgId) throw problem("SAME_ORG");
    const source = await findOrg(call, orgId, tx);
    if (!source) throw problem("NOT_FOUND");
    if (source.partnerId !== target.partnerId) throw problem("CROSS_PARTNER_MOVE");
    const to = { orgId: target.id, siteId: call.body.siteId };
    const left = await call.asSystem("move device", (all) =>
      carryOver(all, call.services, { device: before, source, to }),
    );
    const moveId = call.random.uuid();
    call.audit.note({ details: { moveId, siteId: before.siteId, ...left } });
    call.audit.also({
      action: "device.move_org.target",
      resource,
      owner: { orgId: to.orgId },
      siteIds: [to.siteId],
      details: { moveId, siteId: to.siteId },
    });
    const data = nameOfDevice(before);
    call.emit("device.moved", { orgId, siteId: before.siteId, data });
    call.emit("device.moved", { ...to, data });
    call.afterCommit(() => tellDevice(call.services, id));
    const { orgName: _, ...device } = await getDevice(call, tx, id);
    return { success: true as const, device };
  });
}
