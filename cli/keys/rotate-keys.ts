import { randomUUID } from "node:crypto";
import type { RmmClient } from "#sdk/client";
import { RmmError } from "#sdk/errors";
import { describeError } from "../errors/describe-error.ts";
import type { ExitName } from "../errors/exit-codes.ts";
import type { FieldChange } from "../provisioning/field-change.ts";
import { isInterruption, type Sender } from "../provisioning/sender.ts";
import type { Journal, Rotation } from "./journal.ts";
import type { KeyKind } from "./key-kinds.ts";
import { isSpent, type Rotated, rotateKey, successorOf } from "./rotate-key.ts";
import { type RotationSink, rotationSinkText } from "./secret-sink.ts";

/** One key to rotate. */
export interface RotationItem extends Omit<Rotation, "idempotencyKey" | "startedAt"> {
  readonly sink: RotationSink;
  /** Started by an earlier run: its secret is fetched. */
  readonly resumed?: Rotation;
}

export interface RotationResult {
  readonly kind: KeyKind;
  /** `contoso-dental/ci`; these four are part of every item that this program prints. */
  readonly key: string;
  readonly changes: readonly FieldChange[];
  readonly item: { readonly line: null; readonly name: string };
  readonly id: string;
  readonly name: string;
  readonly organization: string | null;
  readonly outcome: "done" | "failed" | "skipped";
  /** Set if rotation creates a new row: keys of service principals and partners. */
  readonly newId?: string;
  readonly keyPrefix?: string;
  readonly sink: string;
  /** Only if it is printed on stdout. */
  readonly secret?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly hint?: string | undefined };
}

export interface RotationTools {
  readonly rmm: RmmClient;
  readonly sender: Sender;
  readonly journal: Journal;
  /** After an abort the current key is finished and the others are skipped. */
  readonly signal: AbortSignal;
  now(): number;
  /** Returns when the secret is stored; `later`: it is stored when the result is printed. */
  deliver(item: RotationItem, rotated: Rotated): Promise<"safe" | "later">;
  say(text: string): void;
  /** Each result as soon as it is there. */
  tell(result: RotationResult): Promise<void>;
}

export const rotationResultFields = [
  "kind",
  "key",
  "changes",
  "item",
  "id",
  "name",
  "organization",
  "outcome",
  "newId",
  "keyPrefix",
  "sink",
  "secret",
  "error",
] as const satisfies readonly (keyof RotationResult)[];

export interface RotationRun {
  readonly results: readonly RotationResult[];
  readonly exits: readonly ExitName[];
  /** Journal entries to close after the secret was printed. */
  readonly later: readonly { readonly rotation: Rotation; readonly secret: string }[];
}

/** Failures that would also affect the next key, or leave its secret undelivered. */
const endsRun = new Set<ExitName>(["unauthenticated", "interrupted", "tryLater", "unknown"]);

/**
 * Rotates keys one at a time: the next starts when the previous secret is stored. So at most one secret
 * is in transit at any time, and the journal can fetch that one again.
 */
export async function rotateKeys(items: readonly RotationItem[], tools: RotationTools): Promise<RotationRun> {
  const results: RotationResult[] = [];
  const exits: ExitName[] = [];
  const later: { rotation: Rotation; secret: string }[] = [];
  let stopped = false;
  const add = async (result: RotationResult) => {
    results.push(result);
    await tools.tell(result);
  };
  for (const [index, item] of items.entries()) {
    tools.say(`Rotating ${index + 1} of ${items.length}`);
    const { kind, id, name, organization, sink } = item;
    const key = organization === null ? name : `${organization}/${name}`;
    const called = { line: null, name };
    const about = { kind, key, changes: [], item: called, id, name, organization, sink: rotationSinkText(sink) };
    if (tools.signal.aborted || stopped) {
      const why = tools.signal.aborted ? interruption : { code: "NOT_TRIED", message: "not tried after the failure" };
      await add({ ...about, outcome: "skipped", error: why });
      continue;
    }
    try {
      const done = await rotateItem(item, tools);
      if (done.later) later.push({ rotation: done.later, secret: done.secret });
      const shown = sink.kind === "stdout" ? { secret: done.secret } : {};
      const newId = done.id === id ? {} : { newId: done.id };
      const prefix = done.keyPrefix === null ? {} : { keyPrefix: done.keyPrefix };
      await add({ ...about, outcome: "done", ...newId, ...prefix, ...shown });
    } catch (error) {
      const interrupted = isInterruption(error);
      const { exit, error: told } = describeError(error);
      exits.push(exit);
      stopped = endsRun.has(exit) || told.code === "SECRET_NOT_DELIVERED" || told.code === "JOURNAL_UNUSABLE";
      const { code, message, hint } = told;
      await add({ ...about, outcome: interrupted ? "skipped" : "failed", error: { code, message, hint } });
    }
  }
  return { results, exits, later };
}

const interruption = { code: "INTERRUPTED", message: "interrupted before it began" };

async function rotateItem(item: RotationItem, tools: RotationTools): Promise<Rotated & { later?: Rotation }> {
  const { journal } = tools;
  const rotation = item.resumed ?? begunAt(item, tools.now());
  if (!item.resumed) await journal.begin(rotation);
  let rotated: Rotated;
  try {
    rotated = await rotateKey(tools.rmm, tools.sender, rotation);
  } catch (error) {
    if (item.resumed && rotation.kind === "partner-key" && isSpent(error)) return rotateSuccessor(item, tools, error);
    if (isOver(error, item.resumed !== undefined)) await journal.settle(rotation, "dropped");
    throw error;
  }
  const when = await tools.deliver(item, rotated);
  if (when === "later") return { ...rotated, later: rotation };
  await journal.settle(rotation, "delivered");
  return rotated;
}

const begunAt = ({ sink: _sink, resumed: _resumed, ...about }: RotationItem, nowMs: number): Rotation => ({
  ...about,
  idempotencyKey: `rotate-${randomUUID()}`,
  startedAt: new Date(nowMs).toISOString(),
});

/** Rotates the key that replaced it instead: its secret was never received and the stored answer has expired. */
async function rotateSuccessor(
  item: RotationItem,
  tools: RotationTools,
  cause: unknown,
): ReturnType<typeof rotateItem> {
  const { resumed, ...rest } = item;
  const id = await successorOf(tools.rmm, tools.sender, resumed as Rotation);
  await tools.journal.settle(resumed as Rotation, "dropped");
  if (id === undefined) throw cause;
  return rotateItem({ ...rest, id }, tools);
}

/** Whether the entry can be dropped: nothing was done or, for an earlier run, nothing can be fetched any more. */
function isOver(error: unknown, resumed: boolean): boolean {
  if (!(error instanceof RmmError)) return (error as { code?: string }).code === "ROTATED_SINCE";
  if (error.code === "IDEMPOTENCY_IN_FLIGHT") return false;
  if (!resumed) return error.outcome !== "unknown";
  return error.outcome === "rejected" && [400, 404, 409, 410].includes(error.status ?? 0);
}
