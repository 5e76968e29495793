import type { Endpoint } from "#contract/core/endpoint";
import type { devices } from "#contract/resources/fleet/devices";
import { factorMissing } from "#server/access/authorize";
import { getWritableOrg } from "#server/access/org-access";
import { holds, user } from "#server/access/principal";
import { refuseForeignSite } from "#server/access/site-access";
import { changedFields } from "#server/audit/changed-fields";
import type { Tx } from "#server/db/unit-of-work";
import { tellDevice } from "#server/features/fleet/device-commands/signals";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { changeOfStatus, type StatusChange } from "./change-of-status.ts";
import { lastState } from "./last-state.ts";
import { appendAvailability, reachability } from "./presence.ts";
import { type DeviceRow, getDevice } from "./queries.ts";
import { toldOfDevice } from "./told-of-device.ts";

type UpdateCall = typeof devices.update extends Endpoint<infer T> ? Call<T> : never;

/** Changes what people decide of a device (docs/fleet.md, "Changing devices"). */
export async function updateDevice(call: UpdateCall) {
  refuseWithoutRights(call);
  return call.transaction(async (tx) => {
    const before = await getDevice(call, tx, call.params.id);
    const { displayName, siteId, tags, deviceRole } = call.body;
    call.audit.note({
      resource: { type: "device", id: before.id, name: before.hostname },
      owner: { orgId: before.orgId },
      siteIds: [before.siteId],
    });
    await getWritableOrg(call, before.orgId, tx);
    if (before.status === "decommissioned") throw problem("ALREADY_DECOMMISSIONED");
    if (siteId !== undefined) {
      await refuseForeignSite(call, tx, { orgId: before.orgId, siteId, code: "SITE_NOT_IN_ORG" });
      call.audit.note({ siteIds: [before.siteId, siteId] });
    }
    const status = changeOfStatus(before, call.body, {
      now: call.clock.now(),
      offlineAfterMinutes: call.config.deviceOfflineThresholdMinutes,
    });
    const plain = {
      ...(displayName === undefined ? {} : { displayName }),
      ...(siteId === undefined ? {} : { siteId }),
      ...(tags === undefined ? {} : { tags: [...new Set(tags)] }),
      ...(deviceRole === undefined ? {} : { deviceRole, deviceRoleSource: "manual" as const }),
    };
    const changed = changedFields(before, { ...plain, ...status });
    if (changed.length === 0) call.audit.skip();
    else await write(call, tx, { before, change: { ...plain, ...status }, changed });
    const { orgName: _, ...device } = await getDevice(call, tx, before.id);
    return device;
  });
}

/** Moving and quarantining weigh more than the rest, and ask for more. */
function refuseWithoutRights(call: UpdateCall): void {
  const { siteId, quarantined } = call.body;
  const required = quarantined === undefined ? undefined : quarantined ? "devices:execute" : "devices:delete";
  if (required !== undefined && !holds(user(call), required))
    throw problem("PERMISSION_DENIED", { details: { required } });
  if ((siteId !== undefined || quarantined !== undefined) && call.config.enable2fa && !user(call).mfa)
    throw factorMissing(user(call));
}

interface Writing {
  readonly before: DeviceRow;
  readonly change: StatusChange & Record<string, unknown>;
  readonly changed: string[];
}

async function write(call: UpdateCall, tx: Tx, { before, change, changed }: Writing): Promise<void> {
  const now = call.clock.now();
  const updated = await tx
    .updateTable("devices")
    .set({ ...change, updatedAt: now })
    .where("id", "=", before.id)
    .where("status", "=", before.status)
    .executeTakeFirst();
  if (updated.numUpdatedRows !== 1n) throw problem("CONCURRENT_MODIFICATION");
  if (changed.includes("siteId"))
    await call.services.hooks.onDeviceResited({
      ...{ tx, now, services: call.services, deviceId: before.id, orgId: before.orgId },
    });
  const to = change.status;
  const state = to === undefined ? null : reachability(to);
  const turned = state !== null && (await lastState(tx, before)) !== state ? state : null;
  if (turned !== null) await appendAvailability(tx, call, turned, [before]);
  call.audit.note({
    details: {
      changedFields: changed,
      ...(to === undefined ? {} : { fromStatus: before.status, toStatus: to }),
      ...(to === "quarantined" ? { quarantinedReason: change.quarantinedReason } : {}),
    },
  });
  if (to === "quarantined") {
    const { hooks } = call.services;
    const gone = { deviceId: before.id, orgId: before.orgId, reason: "device_quarantined", now };
    const details = await call.asSystem("work commands", (all) =>
      hooks.onDeviceGone({ tx: all, services: call.services, ...gone }),
    );
    call.audit.note({ details });
    call.afterCommit(() => tellDevice(call.services, before.id));
  }
  const { place, name } = await toldOfDevice(tx, before.id);
  call.emit("device.updated", { ...place, data: { ...name, changedFields: changed } });
  if (turned === "offline") call.emit("device.offline", { ...place, data: { ...name, lastSeenAt: before.lastSeenAt } });
  if (turned === "online") call.emit("device.online", { ...place, data: { ...name, previousStatus: before.status } });
}
