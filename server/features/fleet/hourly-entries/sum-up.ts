import { atSite } from "#server/audit/at-site";
import { auditEntry } from "#server/audit/entry";
import { auditHandle } from "#server/audit/handle";
import { enqueueAudit } from "#server/audit/outbox";
import { asSystem } from "#server/db/as-system";
import { after, HOUR } from "#server/platform/clock";
import type { Services } from "#server/services";
import { actions, sumsOf } from "./count-in-hour.ts";

const BATCH = 200;

/** Records what was counted in hours that are over, one entry each (docs/device-logs.md, "Audit"). Returns how many. */
export async function sumUpHours(services: Services): Promise<number> {
  const db = asSystem(services, "sum up submissions");
  const over = after(services.clock.now(), -HOUR);
  for (let total = 0; ; ) {
    const ended = await db.transaction().execute(async (tx) => {
      const due = await tx
        .selectFrom("deviceLogHours")
        .select(["orgId", "deviceId", "kind"])
        .where("startedAt", "<=", over)
        .orderBy("startedAt")
        .limit(BATCH)
        .execute();
      for (const { orgId, deviceId, kind } of due) {
        // Only what the delete returns is recorded: a submission of this moment may have ended the hour itself.
        const hour = await tx
          .deleteFrom("deviceLogHours")
          .where("orgId", "=", orgId)
          .where("deviceId", "=", deviceId)
          .where("kind", "=", kind)
          .where("startedAt", "<=", over)
          .returning(["startedAt", "requests", "entries", "filtered"])
          .executeTakeFirst();
        if (!hour || hour.requests === 0) continue;
        const device = await tx
          .selectFrom("devices")
          .select(["siteId", "hostname"])
          .where("id", "=", deviceId)
          .where("orgId", "=", orgId)
          .executeTakeFirst();
        const entry = auditEntry(
          {
            ...{ orgId, action: actions[kind], actorType: "agent", actorId: deviceId, result: "success" },
            ...{ resourceType: "device", resourceId: deviceId, resourceName: device?.hostname ?? null },
            details: { ...sumsOf(hour), ...atSite(device?.siteId) },
          },
          { now: new Date(services.clock.nowMs()), id: services.random.uuid() },
        );
        await enqueueAudit(auditHandle(tx), [entry]);
      }
      return due.length;
    });
    total += ended;
    if (ended > 0) services.wakeAuditWriter();
    if (ended < BATCH) return total;
  }
}
