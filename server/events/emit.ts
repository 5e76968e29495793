import type { Insertable } from "kysely";
import { type EventData, type EventKind, events } from "#contract/core/events";
import { chunks } from "#server/db/chunks";
import type { EventsTable } from "#server/db/tables/platform";
import type { Tx } from "#server/db/unit-of-work";
import type { Services } from "#server/services";

/** What is told of an event. Without an organization, and without a partner, it is the installation's own. */
export interface Told<K extends EventKind = EventKind> {
  readonly orgId?: string | null;
  /** Of what belongs to no organization. */
  readonly partnerId?: string | null;
  readonly siteId?: string | null;
  readonly data: EventData<K>;
}

export type EventRow = Insertable<EventsTable>;

const DATA_MAX_BYTES = 16 * 1024;

/** The row of an event. Data that is not what its kind declares is a fault of the code, not of a request. */
export function eventRow<K extends EventKind>(
  { clock, random }: Pick<Services, "clock" | "random">,
  kind: K,
  { orgId = null, partnerId = null, siteId = null, data: given }: Told<K>,
): EventRow {
  const { about, data: schema } = events[kind];
  const data = schema().parse(given);
  const bytes = Buffer.byteLength(JSON.stringify(data));
  if (bytes > DATA_MAX_BYTES) throw new Error(`${kind} tells ${bytes} bytes, more than ${DATA_MAX_BYTES}`);
  return {
    id: random.uuid(),
    kind,
    orgId,
    partnerId: orgId === null ? partnerId : null,
    siteId,
    subjectType: about,
    subjectId: data[`${about}Id`] as string,
    data,
    occurredAt: clock.now(),
  };
}

/** Writes them in the transaction of the change, under an unscoped handle, while the row of the subject is held. */
export async function storeEvents(tx: Tx, rows: readonly EventRow[]): Promise<void> {
  for (const some of chunks(rows)) await tx.insertInto("events").values(some).execute();
}

/** For work that is no request, which has `call.emit`: in the transaction of the change, under an unscoped handle. */
export const emitEvents = <K extends EventKind>(
  tx: Tx,
  services: Pick<Services, "clock" | "random">,
  kind: K,
  told: readonly Told<K>[],
): Promise<void> =>
  storeEvents(
    tx,
    told.map((one) => eventRow(services, kind, one)),
  );
