import type { Services } from "#server/services";
import type { DeliveryRow, WebhookRow } from "../queries.ts";
import type { Claimed } from "./lease.ts";
import { readWaiting, readWebhooks } from "./read-due.ts";

/** Deliveries read ahead for one webhook. */
const PAGE = 64;

/** What is sent to one webhook, in the memory of the process that holds its organization's queue. */
export interface Line {
  webhook: WebhookRow;
  due: DeliveryRow[];
  /** When the first delivery beyond `due` is due; Infinity = none waits, 0 = not known. */
  nextMs: number;
}

/** The queue of an organization, held. */
export interface HeldQueue {
  readonly orgId: string;
  readonly partnerId: string;
  heldUntilMs: number;
  /** As it was read; -1 = not yet. */
  changes: number;
  lines: Line[];
  /** Deliveries under way, or sent and not written down yet. */
  readonly taken: Set<string>;
  /** Since when nothing was due. */
  idleSinceMs: number | undefined;
}

export const newQueue = ({ orgId, partnerId }: Claimed, heldUntilMs: number): HeldQueue => ({
  orgId,
  partnerId,
  heldUntilMs,
  changes: -1,
  lines: [],
  taken: new Set(),
  idleSinceMs: undefined,
});

/** Webhooks are read again when anything changed; their deliveries when those at hand are sent. */
export async function readQueue(services: Services, queue: HeldQueue, changes: number): Promise<void> {
  if (changes !== queue.changes) {
    const known = new Map(queue.lines.map((line) => [line.webhook.id, line]));
    queue.lines = (await readWebhooks(services, queue.orgId)).map((webhook) => lineOf(webhook, known.get(webhook.id)));
    queue.changes = changes;
  }
  const nowMs = services.clock.nowMs();
  await readLines(
    services,
    queue,
    queue.lines.filter(({ due, nextMs }) => due.length === 0 && nextMs <= nowMs),
  );
}

/** What was read for a webhook stands while nobody has written it: what is new comes after that. */
function lineOf(webhook: WebhookRow, known: Line | undefined): Line {
  const isSame = known?.webhook.updatedAt === webhook.updatedAt && known.webhook.status === webhook.status;
  return {
    webhook,
    due: isSame ? known.due : [],
    nextMs: 0,
  };
}

async function readLines(services: Services, { taken }: HeldQueue, lines: readonly Line[]): Promise<void> {
  if (lines.length === 0) return;
  const underWay = new Set(taken);
  const limit = PAGE + underWay.size;
  const webhooks = lines.map(({ webhook }) => webhook);
  const found = await readWaiting(services, webhooks, limit);
  // What was written down meanwhile was read as it was before: it is not sent again, and may be due later.
  const isStale = [...underWay].some((id) => !taken.has(id));
  const nowMs = services.clock.nowMs();
  const isDue = ({ nextAttemptAt }: DeliveryRow) => nextAttemptAt === null || Date.parse(nextAttemptAt) <= nowMs;
  for (const line of lines) {
    const rows = found.get(line.webhook.id) ?? [];
    const left = rows.filter(({ id }) => !underWay.has(id));
    line.due = left.filter(isDue);
    const later = left.find((row) => !isDue(row))?.nextAttemptAt;
    const isKnown = !isStale && rows.length < limit;
    line.nextMs = later && !isStale ? Date.parse(later) : isKnown ? Number.POSITIVE_INFINITY : 0;
  }
}

/** The first moment at which something is due; now or before where that is not known. */
export const nextOf = ({ lines }: HeldQueue): number =>
  Math.min(Number.POSITIVE_INFINITY, ...lines.map(({ due, nextMs }) => (due.length > 0 ? 0 : nextMs)));
