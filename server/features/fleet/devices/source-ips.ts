import type { Kysely } from "kysely";
import type { Database } from "#server/db/tables";
import { after, DAY } from "#server/platform/clock";

/** Addresses whose next appearance is audited again need no memory. Returns how many were forgotten. */
export async function forgetSourceIps(db: Kysely<Database>, now: string): Promise<number> {
  const gone = await db.deleteFrom("deviceSourceIps").where("auditedAt", "<=", after(now, -DAY)).executeTakeFirst();
  return Number(gone.numDeletedRows);
}
