import type { Reader } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import { commandColumns } from "./command-view.ts";

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
