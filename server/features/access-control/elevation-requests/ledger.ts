import type { elevationEvents } from "#contract/core/elevation";
import type { Tx } from "#server/db/unit-of-work";
import type { Services } from "#server/services";

/** Who did it; what time or a hook does is the system's. */
export interface LedgerActor {
  readonly type: "user" | "agent" | "api_key" | "system";
  readonly id?: string | null;
  readonly name?: string | null;
}

export const bySystem: LedgerActor = { type: "system" };

interface Line {
  readonly event: (typeof elevationEvents)[number];
  readonly by: LedgerActor;
  readonly facts?: Record<string, unknown>;
}

/**
 * Adds a line to the ledger of a request, whose row this transaction holds or has made: the lines of a request count up
 * without a gap. Needs an unscoped transaction.
 */
export async function addLine(
  tx: Tx,
  { clock, random }: Pick<Services, "clock" | "random">,
  { id, orgId }: { readonly id: string; readonly orgId: string },
  { event, by, facts = {} }: Line,
): Promise<void> {
  const last = await tx
    .selectFrom("elevationAudit")
    .select((eb) => eb.fn.max("position").as("position"))
    .where("orgId", "=", orgId)
    .where("elevationRequestId", "=", id)
    .executeTakeFirstOrThrow();
  await tx
    .insertInto("elevationAudit")
    .values({
      ...{ id: random.uuid(), orgId, elevationRequestId: id, position: (last.position ?? 0) + 1, event },
      ...{ at: clock.now(), actorType: by.type, actorId: by.id ?? null, actorName: by.name ?? null, facts },
    })
    .execute();
}
