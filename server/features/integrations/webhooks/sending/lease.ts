import { asSystem } from "#server/db/as-system";
import type { Db } from "#server/db/dialect/index";
import { skipsLocked } from "#server/db/dialect/locks";
import { after, SECOND } from "#server/platform/clock";
import type { Services } from "#server/services";

/** Longer than an attempt takes: whoever follows a dead process sends nothing that it is still sending. */
export const LEASE_MS = 45 * SECOND;

/** A queue's organization, and the partner whose places it shares. */
export interface Claimed {
  readonly orgId: string;
  readonly partnerId: string;
}

/** Takes queues that are due and nobody holds, those that wait longest first. */
export async function claimQueues(services: Services, holder: string, limit: number): Promise<Claimed[]> {
  const now = services.clock.now();
  return asSystem(services, "deliver webhooks")
    .transaction()
    .execute(async (tx) => {
      const free = tx
        .selectFrom("webhookQueues")
        .select("orgId")
        .where("dueAt", "<=", now)
        .where((eb) => eb.or([eb("heldUntil", "is", null), eb("heldUntil", "<=", now)]))
        .orderBy("dueAt")
        .limit(limit);
      const found = await (skipsLocked(services.store) ? free.forUpdate().skipLocked() : free).execute();
      const orgIds = found.map(({ orgId }) => orgId);
      if (orgIds.length === 0) return [];
      await tx
        .updateTable("webhookQueues")
        .set({ holder, heldUntil: after(now, LEASE_MS) })
        .where("orgId", "in", orgIds)
        .execute();
      const owners = tx.selectFrom("organizations").select(["id as orgId", "partnerId"]).where("id", "in", orgIds);
      const known = new Map((await owners.execute()).map((owner) => [owner.orgId, owner]));
      return orgIds.map((orgId) => known.get(orgId) ?? { orgId, partnerId: orgId });
    });
}

/** Whether any queue may be claimed: asked often, so it takes no transaction. */
export async function someAreDue(db: Db, now: string): Promise<boolean> {
  const found = await db
    .selectFrom("webhookQueues")
    .select("orgId")
    .where("dueAt", "<=", now)
    .where((eb) => eb.or([eb("heldUntil", "is", null), eb("heldUntil", "<=", now)]))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** The queues that this holder still holds, and how often each has changed. */
export async function heldQueues(services: Services, holder: string): Promise<Map<string, number>> {
  const rows = await asSystem(services, "deliver webhooks")
    .selectFrom("webhookQueues")
    .select(["orgId", "changes"])
    .where("holder", "=", holder)
    .execute();
  return new Map(rows.map(({ orgId, changes }) => [orgId, Number(changes)]));
}

/** Until when they are held, in the holder's own time. */
export async function renewQueues(services: Services, holder: string): Promise<number> {
  const nowMs = services.clock.nowMs();
  await asSystem(services, "deliver webhooks")
    .updateTable("webhookQueues")
    .set({ heldUntil: new Date(nowMs + LEASE_MS).toISOString() })
    .where("holder", "=", holder)
    .execute();
  return nowMs + LEASE_MS;
}

/** Gives a queue up until its next delivery is due, unless it has changed since it was read. */
export async function releaseQueue(
  services: Services,
  holder: string,
  { orgId, changes, nextMs }: { orgId: string; changes: number; nextMs: number },
): Promise<boolean> {
  const dueAt = Number.isFinite(nextMs) ? new Date(nextMs).toISOString() : null;
  const released = await asSystem(services, "deliver webhooks")
    .updateTable("webhookQueues")
    .set({ holder: null, heldUntil: null, dueAt })
    .where("orgId", "=", orgId)
    .where("holder", "=", holder)
    .where("changes", "=", changes)
    .executeTakeFirst();
  return released.numUpdatedRows === 1n;
}

/** Gives up everything as it is: what is due stays due. `undefined`: of whoever held it. */
export async function releaseAll(services: Services, holder?: string): Promise<void> {
  const all = asSystem(services, "deliver webhooks")
    .updateTable("webhookQueues")
    .set({ holder: null, heldUntil: null });
  await (holder === undefined ? all.where("holder", "is not", null) : all.where("holder", "=", holder)).execute();
}
