import type { CommandType } from "#contract/core/command-types";
import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { EventServices } from "#server/room-hooks";
import { endedColumns, tellRooms } from "./end-command.ts";
import { endWithoutAnswer, isOpen } from "./rules.ts";

interface Which {
  readonly deviceId?: string;
  readonly orgId?: string;
  readonly except?: readonly CommandType[];
  readonly only?: CommandType;
  readonly status?: "pending" | "sent";
  readonly reason: string;
  readonly now: string;
}

/**
 * Ends what is open of a device or an organization: what was never claimed is cancelled, the rest has timed out, and the
 * room of its type hears of it (docs/fleet.md, "Commands"). Needs an unscoped transaction. Returns how many ended.
 */
export async function endOpenCommands(tx: Tx, services: EventServices, which: Which): Promise<number> {
  let query = tx
    .selectFrom("deviceCommands")
    .select(["id", "status"])
    .where("status", "in", ["pending", "sent"])
    .orderBy("id");
  if (which.deviceId !== undefined) query = query.where("deviceId", "=", which.deviceId);
  if (which.orgId !== undefined) query = query.where("orgId", "=", which.orgId);
  if (which.except !== undefined) query = query.where("type", "not in", [...which.except]);
  if (which.status !== undefined) query = query.where("status", "=", which.status);
  if (which.only !== undefined) query = query.where("type", "=", which.only);
  const open = await held(query, services.store.dialect).execute();
  let ended = 0;
  for (const { id, status } of open)
    if (isOpen(status) && (await endOne(tx, services, { ...which, id, status }))) ended += 1;
  return ended;
}

interface One extends Pick<Which, "reason" | "now"> {
  readonly id: string;
  readonly status: "pending" | "sent";
  /** Of the sweep: it may have been claimed or lengthened since. */
  readonly dueBefore?: string;
}

/** False when the command is no longer what was read. */
export async function endOne(
  tx: Tx,
  services: EventServices,
  { id, status, reason, now, dueBefore }: One,
): Promise<boolean> {
  const to = endWithoutAnswer[status];
  const result = { status: to, reason, ...(to === "timeout" ? { timedOutBy: "server" } : {}) };
  let query = tx
    .updateTable("deviceCommands")
    .set({ status: to, completedAt: now, payloadSealed: null, outcome: result, updatedAt: now })
    .where("id", "=", id)
    .where("status", "=", status);
  if (dueBefore !== undefined) query = query.where("expiresAt", "<=", dueBefore);
  const command = await query.returning(endedColumns).executeTakeFirst();
  if (!command) return false;
  await tellRooms(tx, services, { command, ending: { status: to, result }, now });
  return true;
}
