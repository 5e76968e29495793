import type { RmmClient } from "#sdk/client";
import type { Context } from "../../../context.ts";
import { quoted } from "../../../errors/commands-to-type.ts";
import { exitCode } from "../../../errors/exit-codes.ts";
import { exitOfItems } from "../../../errors/exit-of-items.ts";
import { outcomePrinter } from "../../../generic/outcome-printer.ts";
import { isForPrograms } from "../../../output/print.ts";
import { withProgress } from "../../../output/spinner.ts";
import { PER_MINUTE } from "../../../provisioning/budget.ts";
import { paced } from "../../../provisioning/sender.ts";
import { streamEvents } from "../../webhooks/event-stream.ts";
import type { Chosen } from "../chosen.ts";
import { type Following, follow } from "./follow.ts";
import { type Entry, ended, isOpen, listing, shownEntry } from "./outcome.ts";
import { type Order, queueAll } from "./queue.ts";

/** Queues, follows where that is wanted, prints each entry and says how to go on. Returns the exit code. */
export async function carryOut(context: Context, order: Order, devices: readonly Chosen[]): Promise<number> {
  const { shell, globals } = context;
  const client = await context.client();
  const onWait = (ms: number, why: string) => void context.notice(`Waiting ${Math.ceil(ms / 1000)} s: ${why}`);
  const sender = paced({ perMinute: PER_MINUTE, signal: shell.signal, sleep: shell.sleep, onWait });
  const printer = outcomePrinter(context, listing);
  const listeners = new AbortController();
  const entries = await withProgress(context, order.type, async ({ say }) => {
    say(`${order.type}: queueing`);
    const queued = (await queueAll({ client, sender }, order, devices)).map(settled);
    for (const entry of queued) if (!globals.wait || !isWaitedFor(entry)) await printer.item(shownEntry(entry));
    if (!globals.wait) return queued;
    const failed = () => queued.filter(({ outcome }) => outcome === "failed").length;
    let failures = failed();
    const total = queued.filter(isWaitedFor).length;
    const over: Following["over"] = async (entry, left) => {
      if (entry.outcome === "failed") failures += 1;
      say(`${order.type}: ${total - left} of ${total} over, ${failures} failed`);
      await printer.item(shownEntry(entry));
    };
    const signal = AbortSignal.any([shell.signal, listeners.signal]);
    const told = total < FEW ? undefined : await listening(context, client, queued, signal);
    const followed = await follow(queued, {
      client,
      sender,
      signal: shell.signal,
      waitMs: globals.timeoutMs,
      over,
      told,
    });
    for (const entry of followed) if (entry.outcome === "open") await printer.item(shownEntry(entry));
    return followed;
  }).finally(() => listeners.abort());
  await printer.end(entries.map(shownEntry), goOn(context, order, entries));
  return exitCode(exitOf(context, entries));
}

const isWaitedFor = ({ command }: Entry): boolean => command !== undefined && isOpen(command);

/** The answer to a repeated run may be one that is over already. */
const settled = (entry: Entry): Entry =>
  entry.command === undefined || isOpen(entry.command) ? entry : ended(entry, entry.command);

/** Fewer are asked for as quickly. */
const FEW = 5;

/**
 * Where all devices are of one customer and the caller may wait for its events, one request tells of every command that is
 * over. Who may not is refused, and asks for each.
 */
async function listening(
  context: Context,
  client: RmmClient,
  entries: readonly Entry[],
  signal: AbortSignal,
): Promise<Following["told"]> {
  const [orgId, ...others] = new Set(entries.map(({ device }) => device.orgId));
  if (orgId === undefined || others.length > 0) return undefined;
  const query = { orgId, events: "device.command.completed,device.command.failed" };
  const may = await client.webhooks.events({ query }, { signal }).then(
    () => true,
    () => false,
  );
  if (!may) return undefined;
  return (over) => {
    const take = async ({ data }: { data: unknown }) =>
      over(String((data as { commandId?: unknown } | null)?.commandId));
    streamEvents(context, { query, signal, ready: async () => undefined, take }).catch(() => undefined);
  };
}

function exitOf({ shell }: Context, entries: readonly Entry[]) {
  const count = (outcome: Entry["outcome"]) => entries.filter((one) => one.outcome === outcome).length;
  const failed = entries.flatMap(({ outcome, exit = "failure" }) => (outcome === "failed" ? [exit] : []));
  const done = count("done") + count("queued") + count("exists");
  if (shell.signal.aborted && count("open") + count("skipped") > 0) return "interrupted";
  if (count("open") > 0 && failed.length === 0) return "pending";
  return exitOfItems({ done: done + count("open"), failed, skipped: count("skipped"), interrupted: false });
}

/** Where open commands are looked at, and how the run is repeated without anything being queued twice. */
function goOn(context: Context, { key }: Order, entries: readonly Entry[]): string[] {
  const { globals, shell } = context;
  const open = entries.filter(({ command }) => command !== undefined && isOpen(command));
  const looked = open.length > FEW || isForPrograms(context) ? [] : open.map(lookAt);
  const unknown = entries.some(({ exit }) => exit === "unknown");
  const left = entries.some(({ outcome }) => outcome === "open" || outcome === "skipped");
  if (!left && !unknown) return looked;
  const wait = globals.wait || open.length === 0 ? [] : ["--wait"];
  const own = globals.idempotencyKey === undefined ? ["--idempotency-key", key] : [];
  const again = ["rmm", ...globals.typed, ...wait, ...own].map(quoted).join(" ");
  const why = unknown ? "It is not known whether all were queued" : "What was queued goes on";
  return [
    `${shell.signal.aborted ? "Interrupted. " : ""}${why}. To go on, with nothing queued twice: \`${again}\``,
    ...looked,
  ];
}

const lookAt = ({ command, device }: Entry): string =>
  `Look at it with: \`rmm commands show ${command?.deviceId ?? device.id} ${command?.id}\``;
