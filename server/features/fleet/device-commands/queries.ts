import { unseen } from "#server/access/site-access";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { commandColumns } from "./command-view.ts";

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

export async function getCommand(db: Reader, device: { id: string; orgId: string }, id: string) {
  const row = await db
    .selectFrom("deviceCommands")
    .select(commandColumns)
    .where("orgId", "=", device.orgId)
    .where("deviceId", "=", device.id)
    .where("id", "=", id)
    .executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  return row;
}
