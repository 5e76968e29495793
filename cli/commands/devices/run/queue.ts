import type { RmmClient } from "#sdk/client";
import { RmmError } from "#sdk/errors";
import type { Command, DeviceCommandsQueueManyResult } from "#sdk/generated/models/index";
import { type Described, describeError } from "../../../errors/describe-error.ts";
import type { ExitName } from "../../../errors/exit-codes.ts";
import { isInterruption, type Sender } from "../../../provisioning/sender.ts";
import type { Chosen } from "../chosen.ts";
import { type Entry, problem } from "./outcome.ts";

export interface Order {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>> | undefined;
  /** A repeated run with it queues nothing twice. */
  readonly key: string;
}

interface Tools {
  readonly client: RmmClient;
  readonly sender: Sender;
}

/** As many as one call takes. */
export const PAGE = 500;

/** Devices in one order, so that a repeated run sends the same pages. */
export const pagesOf = (devices: readonly Chosen[]): Chosen[][] => {
  const sorted = devices.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return Array.from({ length: Math.ceil(sorted.length / PAGE) }, (_, at) => sorted.slice(at * PAGE, (at + 1) * PAGE));
};

/** What would befall the next page too. */
const hopeless: ReadonlySet<ExitName> = new Set(["unauthenticated", "interrupted", "tryLater", "unknown", "forbidden"]);

/** Queues a command for every device: each page either was queued, or nobody knows, and `key` makes it safe to repeat. */
export async function queueAll(tools: Tools, order: Order, devices: readonly Chosen[]): Promise<Entry[]> {
  const only = devices.length === 1 ? devices[0] : undefined;
  if (only) return [await queueOne(tools, order, only)];
  const entries: Entry[] = [];
  let stopped = false;
  for (const [at, page] of pagesOf(devices).entries()) {
    const queued: Entry[] = stopped ? skipped(page) : await queuePage(tools, order, page, at);
    stopped ||= queued.some(({ outcome, exit }) => outcome === "skipped" || (exit !== undefined && hopeless.has(exit)));
    entries.push(...queued);
  }
  return entries;
}

const skipped = (devices: readonly Chosen[]): Entry[] => devices.map((device) => ({ device, outcome: "skipped" }));

/** Ctrl-C ends no call that queues: whether it did would not be known. */
async function queueOne({ client, sender }: Tools, { type, payload, key }: Order, device: Chosen): Promise<Entry> {
  const body = { type, ...(payload && { payload }) };
  const call = () => client.deviceCommands.queue({ params: { id: device.id }, body }, { idempotencyKey: key });
  try {
    return { device, outcome: "queued", command: await sender.send(call, { repeatable: true }) };
  } catch (error) {
    if (isInterruption(error)) return { device, outcome: "skipped" };
    const described = describeError(error);
    const pending = error instanceof RmmError && error.code === "ALREADY_PENDING";
    const commandId = (described.error.details as { commandId?: string } | undefined)?.commandId;
    return pending && commandId ? there({ client, sender }, device, commandId) : failed(device, described);
  }
}

const failed = (device: Chosen, { exit, error }: Described): Entry => ({ device, outcome: "failed", exit, error });

async function queuePage(all: Tools, order: Order, page: readonly Chosen[], at: number): Promise<Entry[]> {
  const { type, payload, key } = order;
  const body = { deviceIds: page.map(({ id }) => id), type, ...(payload && { payload }) };
  const call = () => all.client.deviceCommands.queueMany({ body }, { idempotencyKey: `${key}-${at + 1}` });
  try {
    return await entriesOf(all, page, await all.sender.send(call, { repeatable: true }));
  } catch (error) {
    if (isInterruption(error)) return skipped(page);
    const described = describeError(error);
    return page.map((device) => failed(device, described));
  }
}

/**
 * The answer lists commands in the order of the ids; that of a device which is woken stands with the neighbour that
 * wakes it, so what is neither skipped nor refused is matched by its place.
 */
function entriesOf(
  all: Tools,
  page: readonly Chosen[],
  { commands, skipped: pending, failed: refused }: DeviceCommandsQueueManyResult,
): Promise<Entry[]> {
  const left = [...commands];
  return Promise.all(
    page.map((device): Entry | Promise<Entry> => {
      const held = pending.find(({ deviceId }) => deviceId === device.id);
      if (held) return there(all, device, held.commandId);
      const not = refused.find(({ deviceId }) => deviceId === device.id);
      if (not) return { device, outcome: "failed", error: problem(not.code, not.message), exit: exitOf(not.code) };
      const command = left.shift();
      return command ? { device, outcome: "queued", command } : { device, outcome: "skipped" };
    }),
  );
}

/** Of a command that an earlier run queued; it is followed as one's own. */
async function there({ client, sender }: Tools, device: Chosen, commandId: string): Promise<Entry> {
  const error = problem("ALREADY_PENDING", "one is on its way already");
  const read = (options: object) =>
    client.deviceCommands.get({ params: { id: device.id, commandId } }, options) as PromiseLike<Command>;
  const command = await sender.read(read).catch(() => undefined);
  return { device, outcome: "exists", error, ...(command && { command }) };
}

/** As the single call would be answered. */
function exitOf(code: string): ExitName {
  if (code === "NOT_FOUND") return "notFound";
  if (code === "SITE_ACCESS_DENIED" || code === "ORG_SUSPENDED") return "forbidden";
  return ["INVALID_STATE", "ORG_READ_ONLY", "NO_MAC", "NO_RELAY"].includes(code) ? "conflict" : "failure";
}
