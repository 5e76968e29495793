import { asSystem } from "#server/db/as-system";
import type { Db } from "#server/db/dialect/index";
import { skipsLocked } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { after, SECOND } from "#server/platform/clock";
import type { Services } from "#server/services";

/** Longer than an attempt takes: whoever follows a dead process sends nothing that it is still sending. */
export const LEASE_MS = 45 * SECOND;

/** A queue's organization, and the partner whose places it shares. */
export interface Claimed {
  readonly orgId: string;
  readonly partnerId: string;
}

/** What a holder has room for. */
export interface Room {
  readonly all: number;
  /** Of a partner whose queues are held already. */
  ofPartner(partnerId: string): number;
  /** Partners whose queues it does not look at. */
  readonly full: readonly string[];
}

/** Takes queues that are due and nobody holds, those that wait longest first. */
export async function claimQueues(services: Services, holder: string, room: Room): Promise<Claimed[]> {
  const now = services.clock.now();
  return asSystem(services, "deliver webhooks")
    .transaction()
    .execute(async (tx) => {
      const full = tx.selectFrom("organizations").select("id").where("partnerId", "in", room.full);
      const free = tx
        .selectFrom("webhookQueues")
        .select("orgId")
        .where("dueAt", "<=", now)
        .where((eb) => eb.or([eb("heldUntil", "is", null), eb("heldUntil", "<=", now)]))
        .$if(room.full.length > 0, (query) => query.where("orgId", "not in", full))
        .orderBy("dueAt")
        .limit(room.all);
      const found = await (skipsLocked(services.store) ? free.forUpdate().skipLocked() : free).execute();
      const claimed = withinRoom(await ownersOf(tx, found), room);
      if (claimed.length === 0) return [];
      await tx
        .updateTable("webhookQueues")
        .set({ holder, heldUntil: after(now, LEASE_MS) })
        .where(
          "orgId",
          "in",
          claimed.map(({ orgId }) => orgId),
        )
        .execute();
      return claimed;
    });
}

async function ownersOf(tx: Tx, queues: readonly { orgId: string }[]): Promise<Claimed[]> {
  if (queues.length === 0) return [];
  const ids = queues.map(({ orgId }) => orgId);
  const owners = tx.selectFrom("organizations").select(["id as orgId", "partnerId"]).where("id", "in", ids);
  const known = new Map((await owners.execute()).map((owner) => [owner.orgId, owner]));
  return ids.map((orgId) => known.get(orgId) ?? { orgId, partnerId: orgId });
}

function withinRoom(queues: readonly Claimed[], room: Room): Claimed[] {
  const taken = new Map<string, number>();
  return queues.filter(({ partnerId }) => {
    const count = (taken.get(partnerId) ?? 0) + 1;
    taken.set(partnerId, count);
    return count <= room.ofPartner(partnerId);
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

/** Which of them are held still, and until when in the holder's own time. */
export async function renewQueues(
  services: Services,
  holder: string,
): Promise<{ orgIds: ReadonlySet<string>; heldUntilMs: number }> {
  const heldUntilMs = services.clock.nowMs() + LEASE_MS;
  const renewed = await asSystem(services, "deliver webhooks")
    .updateTable("webhookQueues")
    .set({ heldUntil: new Date(heldUntilMs).toISOString() })
    .where("holder", "=", holder)
    .returning("orgId")
    .execute();
  return { orgIds: new Set(renewed.map(({ orgId }) => orgId)), heldUntilMs };
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
