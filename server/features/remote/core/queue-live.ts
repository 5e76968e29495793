import { type CommandType, commandRules } from "#contract/core/command-types";
import { holdOrganization } from "#server/access/hold-organization";
import { findOrg } from "#server/access/org-access";
import { user } from "#server/access/principal";
import { held } from "#server/db/dialect/locks";
import type { DeviceStatus } from "#server/db/tables/fleet";
import { insertCommand } from "#server/features/fleet/device-commands/insert-command";
import { refusalOfOrg, type Target } from "#server/features/fleet/device-commands/judge-device";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { refuseTooMany } from "./live-limits.ts";

const reachable: readonly DeviceStatus[] = ["online", "maintenance"];

/** Seconds that the agent may take, as it is told. */
const TIMEOUT_SECONDS = 30;

export interface Asked {
  readonly type: CommandType;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Judges a live call and queues its command (docs/remote.md, "Live calls"). Returns the command's id. */
export async function queueLive(call: Call, device: Target, { type, payload }: Asked): Promise<string> {
  const { services } = call;
  const { userId } = user(call);
  if (!(await findOrg(call, device.orgId))) throw problem("NOT_FOUND");
  const { os } = commandRules(type);
  return call.asSystem("work commands", async (tx) => {
    const stands = await holdOrganization(tx, services, device.orgId);
    const refusal = stands ? refusalOfOrg({ status: stands.orgStatus }) : ({ code: "NOT_FOUND" } as const);
    if (refusal) throw problem(refusal.code, "details" in refusal ? { details: refusal.details } : {});
    // Held until the commit: a quarantine or a move that comes now finds the command and ends it.
    const row = tx
      .selectFrom("devices")
      .select("status")
      .where("id", "=", device.id)
      .where("orgId", "=", device.orgId)
      .where("siteId", "is not distinct from", device.siteId);
    const locked = await held(row, services.store.dialect).executeTakeFirst();
    if (!locked) throw problem("NOT_FOUND");
    await services.hooks.onLiveCall({ tx, now: call.clock.now(), orgId: device.orgId, deviceId: device.id, type });
    if (os !== undefined && device.osType !== os) throw problem("UNSUPPORTED_OS");
    if (!reachable.includes(locked.status)) throw problem("DEVICE_OFFLINE", { details: { status: locked.status } });
    await refuseTooMany(tx, services, { userId, deviceId: device.id });
    return insertCommand(tx, services, {
      device,
      type,
      payload: { ...payload, timeoutSeconds: TIMEOUT_SECONDS },
      createdBy: userId,
    });
  });
}
