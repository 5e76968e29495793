import { unseen } from "#server/access/site-access";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";

/** The device whose commands are asked for: 404 outside the tenant, 403 at another site (docs/conventions.md, "Site rule"). */
export async function getTarget(call: Pick<Call, "who" | "readAsSystem">, db: Reader, id: string) {
  const device = await db
    .selectFrom("devices")
    .select(["id", "orgId", "siteId", "hostname", "osType", "status", "agentVersion", "watchdogStatus"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (!device) throw await unseen(call, "devices", id);
  return device;
}
