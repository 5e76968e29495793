import type { AgentPrincipal } from "#server/access/principal";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { after, DAY } from "#server/platform/clock";

/**
 * Records that a device reports from another address than last time, once per device and address in 24 hours
 * (docs/fleet.md, "Source address"), so that a machine that alternates between two lines does not flood the log.
 */
export async function noteSourceIp(call: Call, tx: Tx, who: AgentPrincipal): Promise<void> {
  const from = who.device.lastSeenIp;
  if (call.ip === null || from === null || from === call.ip) return;
  const now = call.clock.now();
  const due = await tx
    .insertInto("deviceSourceIps")
    .values({ orgId: who.orgId, deviceId: who.deviceId, ip: call.ip, auditedAt: now })
    .onConflict((conflict) =>
      conflict
        .columns(["orgId", "deviceId", "ip"])
        .doUpdateSet({ auditedAt: now })
        .where("deviceSourceIps.auditedAt", "<=", after(now, -DAY)),
    )
    .returning("ip")
    .executeTakeFirst();
  if (!due) return;
  call.audit.also({
    action: "agent.source.ip.changed",
    resource: { type: "device", id: who.deviceId, name: who.hostname },
    details: { from, to: call.ip },
  });
}
