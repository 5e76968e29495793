import { skipsLocked } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { after } from "#server/platform/clock";
import type { Services } from "#server/services";
import { openPayload } from "./sealed-payload.ts";

/** As it goes to the agent. */
export interface ClaimedCommand {
  readonly id: string;
  readonly type: string;
  readonly payload: Record<string, unknown>;
}

interface Claimant {
  readonly deviceId: string;
  readonly role: "agent" | "watchdog";
  /** The device is being let go: it may only uninstall. */
  readonly uninstallOnly: boolean;
}

const CLAIM_MAX = 10;

/**
 * Hands the oldest commands to the agent, each to one claim alone: `pending` becomes `sent` by compare-and-swap, and the
 * time to run begins (docs/fleet.md, "Claiming commands").
 */
export async function claimCommands(
  tx: Tx,
  services: Pick<Services, "clock" | "vault" | "store">,
  { deviceId, role, uninstallOnly }: Claimant,
): Promise<ClaimedCommand[]> {
  const now = services.clock.now();
  let due = tx
    .selectFrom("deviceCommands")
    .select(["id", "runMs"])
    .where("deviceId", "=", deviceId)
    .where("status", "=", "pending")
    .where("targetRole", "=", role)
    .where("expiresAt", ">", now)
    .orderBy("queuedAt")
    .orderBy("id")
    .limit(CLAIM_MAX);
  if (uninstallOnly) due = due.where("type", "=", "self_uninstall");
  if (skipsLocked(services.store)) due = due.forUpdate().skipLocked();
  const claimed: ClaimedCommand[] = [];
  for (const { id, runMs } of await due.execute()) {
    const command = await tx
      .updateTable("deviceCommands")
      .set({ status: "sent", sentAt: now, expiresAt: after(now, runMs), updatedAt: now })
      .where("id", "=", id)
      .where("status", "=", "pending")
      .where("expiresAt", ">", now)
      .returning(["id", "type", "payload", "payloadSealed"])
      .executeTakeFirst();
    if (!command) continue;
    claimed.push({ id, type: command.type, payload: openPayload(services.vault, command) });
  }
  return claimed;
}
