import type { EventData, EventKind } from "#contract/core/events";
import type { Tx } from "#server/db/unit-of-work";
import type { Services } from "#server/services";

/** An event as it is handed out. */
export type StoredEvent<K extends EventKind = EventKind> = K extends EventKind
  ? {
      readonly id: string;
      readonly kind: K;
      /** Null: no organization's, so nobody's receivers. */
      readonly orgId: string | null;
      /** Of what belongs to no organization. */
      readonly partnerId: string | null;
      readonly siteId: string | null;
      readonly subjectType: string;
      readonly subjectId: string;
      readonly data: EventData<K>;
      readonly occurredAt: string;
      readonly position: number;
    }
  : never;

/**
 * Somebody who is told of every event, in order. A room exports `consumers: readonly Consumer[]` from `consumers.ts`,
 * which a generated registry collects.
 */
export interface Consumer {
  /** Names its cursor for ever: a new name begins at the end of the log. */
  readonly name: string;
  /**
   * Runs, unscoped, in the transaction that moves the cursor: what it writes counts once. It reaches no other host and
   * takes no other connection: it leaves rows for somebody who does. Throwing undoes all of it, and it is asked again
   * (docs/platform.md, "Events"). Answers whether it wrote anything: where nothing concerned it, moving its cursor does
   * not wait for the disk.
   */
  handle(services: Services, tx: Tx, events: readonly StoredEvent[]): Promise<boolean>;
}
