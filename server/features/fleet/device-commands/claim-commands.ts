import { skipsLocked } from "#server/db/dialect/locks";
import { word } from "#server/db/dialect/text";
import { prepared } from "#server/db/prepared";
import type { Reader, Tx } from "#server/db/unit-of-work";
import { after } from "#server/platform/clock";
import type { Services } from "#server/services";
import { lastTypes } from "./rules.ts";
import { openPayload } from "./sealed-payload.ts";

/** As it goes to the agent. */
export interface ClaimedCommand {
  readonly id: string;
  readonly type: string;
  readonly payload: Record<string, unknown>;
}

/** With what it takes to put it back. */
export interface Claim extends ClaimedCommand {
  readonly sentAt: string;
  /** Until when it may wait. */
  readonly waitsUntil: string;
}

export const handedOut = ({ id, type, payload }: Claim): ClaimedCommand => ({ id, type, payload });

interface Claimant {
  readonly deviceId: string;
  readonly role: "agent" | "watchdog";
  /** The device is being let go: it may only uninstall, and end rights that it gave. */
  readonly uninstallOnly: boolean;
}

export const CLAIM_MAX = 10;

/** Whether there is anything to claim: what thousands of waiting agents ask again and again opens no transaction. */
export const hasWaiting = async (db: Reader, now: string, deviceId: string, role: Claimant["role"]) =>
  (await waiting(db, { deviceId, role, now })) !== undefined;

const waiting = prepared(["deviceId", "role", "now"], (db, { deviceId, role, now }) =>
  db
    .selectFrom("deviceCommands")
    .select("id")
    .where("deviceId", "=", deviceId)
    .where("status", "=", word("pending"))
    .where("targetRole", "=", role as Claimant["role"])
    .where("expiresAt", ">", now)
    .limit((eb) => eb.lit(1)),
);

/**
 * Hands the oldest commands to the agent, each to one claim alone: `pending` becomes `sent` by compare-and-swap, and the
 * time to run begins (docs/fleet.md, "Claiming commands").
 */
export async function claimCommands(
  tx: Tx,
  services: Pick<Services, "clock" | "vault" | "store">,
  { deviceId, role, uninstallOnly }: Claimant,
): Promise<Claim[]> {
  const now = services.clock.now();
  let due = tx
    .selectFrom("deviceCommands")
    .select(["id", "type", "originId", "runMs", "expiresAt as waitsUntil"])
    .where("deviceId", "=", deviceId)
    .where("status", "=", word("pending"))
    .where("targetRole", "=", role)
    .where("expiresAt", ">", now)
    .orderBy("queuedAt")
    .orderBy("id")
    .limit(CLAIM_MAX);
  if (uninstallOnly) due = due.where("type", "in", [...lastTypes]);
  if (skipsLocked(services.store)) due = due.forUpdate().skipLocked();
  const claimed: Claim[] = [];
  for (const { id, type, originId, runMs, waitsUntil } of await due.execute()) {
    if (type === "actuate_elevation" && !(await isActuating(tx, originId, now))) continue;
    const command = await tx
      .updateTable("deviceCommands")
      .set({ status: "sent", sentAt: now, expiresAt: after(now, runMs), updatedAt: now })
      .where("id", "=", id)
      .where("status", "=", "pending")
      .where("expiresAt", ">", now)
      .returning(["id", "type", "payload", "payloadSealed"])
      .executeTakeFirst();
    if (!command) continue;
    claimed.push({ id, type: command.type, payload: openPayload(services.vault, command), sentAt: now, waitsUntil });
  }
  return claimed;
}

/** The window is open and nobody has taken the rights back (docs/elevation-requests.md, "On the device"). */
async function isActuating(tx: Tx, elevationId: string | null, now: string): Promise<boolean> {
  const elevation = await tx
    .selectFrom("elevationRequests")
    .select("id")
    .where("id", "=", elevationId)
    .where("status", "=", "actuating")
    .where("expiresAt", ">", now)
    .executeTakeFirst();
  return elevation !== undefined;
}

/** Of a connection that ended before a byte of it was written: it was never sent. A repeat changes nothing. */
export async function putBack(tx: Tx, { clock }: Pick<Services, "clock">, claims: readonly Claim[]): Promise<void> {
  for (const { id, sentAt, waitsUntil } of claims)
    await tx
      .updateTable("deviceCommands")
      .set({ status: "pending", sentAt: null, expiresAt: waitsUntil, updatedAt: clock.now() })
      .where("id", "=", id)
      .where("status", "=", "sent")
      .where("sentAt", "=", sentAt)
      .execute();
}
