import { type CommandType, commandTypes } from "#contract/core/command-types";
import { asSystem } from "#server/db/as-system";
import { skipsLocked } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { after, DAY, MINUTE } from "#server/platform/clock";
import type { Services } from "#server/services";
import { endOne } from "./end-open-commands.ts";
import { isOpen } from "./rules.ts";
import { commandTopic } from "./signals.ts";

const BATCH = 200;
const KEPT_MS = 90 * DAY;

/**
 * Ends what has waited or run too long (docs/fleet.md, "Commands"). An uninstall of a tenant that is being wound down is
 * left to the end of the wind-down. Returns how many ended.
 */
export async function endOverdueCommands(services: Services): Promise<number> {
  let total = 0;
  for (;;) {
    const now = services.clock.now();
    const { found, ended } = await asSystem(services, "work commands")
      .transaction()
      .execute((tx) => endBatch(tx, services, now));
    for (const id of ended) services.store.signals.send(commandTopic(id));
    total += ended.length;
    if (found < BATCH || ended.length === 0) return total;
  }
}

async function endBatch(tx: Tx, services: Services, now: string): Promise<{ found: number; ended: string[] }> {
  let query = tx
    .selectFrom("deviceCommands")
    .innerJoin("organizations", "organizations.id", "deviceCommands.orgId")
    .select(["deviceCommands.id", "deviceCommands.status"])
    .where("deviceCommands.status", "in", ["pending", "sent"])
    .where("deviceCommands.expiresAt", "<=", now)
    .where((eb) =>
      eb.or([eb("deviceCommands.type", "<>", "self_uninstall"), eb("organizations.status", "<>", "offboarding")]),
    )
    .orderBy("deviceCommands.expiresAt")
    .limit(BATCH);
  if (skipsLocked(services.store)) query = query.forUpdate("deviceCommands").skipLocked();
  const due = await query.execute();
  const ended: string[] = [];
  for (const { id, status } of due)
    if (isOpen(status) && (await endOne(tx, services, { id, status, reason: "expired", now, dueBefore: now })))
      ended.push(id);
  return { found: due.length, ended };
}

const shortLived = (Object.entries(commandTypes) as [CommandType, { keptMs?: number }][]).filter(
  ([, { keptMs }]) => keptMs !== undefined,
);

/** Drops ended commands past their time, and answers that nobody has fetched. Returns how many commands went. */
export async function forgetCommands(services: Services): Promise<number> {
  const db = asSystem(services, "purge expired");
  const now = services.clock.now();
  const gone = await db
    .deleteFrom("deviceCommands")
    .where("completedAt", "<=", after(now, -KEPT_MS))
    .executeTakeFirst();
  let total = Number(gone.numDeletedRows);
  for (const [type, { keptMs }] of shortLived) {
    const old = await db
      .deleteFrom("deviceCommands")
      .where("type", "=", type)
      .where("completedAt", "<=", after(now, -(keptMs as number)))
      .executeTakeFirst();
    total += Number(old.numDeletedRows);
  }
  return total;
}

/** An answer that its caller did not wait for is nobody's. */
export async function dropUnclaimedAnswers(services: Services): Promise<void> {
  await asSystem(services, "purge expired")
    .updateTable("deviceCommands")
    .set({ answerSealed: null })
    .where("answerSealed", "is not", null)
    .where("completedAt", "<=", after(services.clock.now(), -MINUTE))
    .execute();
}
