import { setTimeout as pause } from "node:timers/promises";
import type { RmmClient } from "#sdk/client";
import type { Command } from "#sdk/generated/models/index";
import { describeError } from "../../../errors/describe-error.ts";
import { isInterruption, type Sender } from "../../../provisioning/sender.ts";
import { type Entry, ended, isOpen } from "./outcome.ts";

export interface Following {
  readonly client: RmmClient;
  readonly sender: Sender;
  readonly signal: AbortSignal;
  /** Most time to wait; undefined: until the last one is over, which the server sees to. */
  readonly waitMs: number | undefined;
  /** Told of each that is over. */
  readonly over: (entry: Entry, left: number) => Promise<void>;
  /** Calls back with the id of each command of which the server tells that it is over. */
  readonly told?: ((over: (commandId: string) => void) => void) | undefined;
}

const FIRST_MS = 250;
const GROWTH = 1.6;
const LONGEST_MS = 15_000;
/** For each command, where the server tells which are over. */
const LONGEST_TOLD_MS = 60_000;
/** Five requests a second at most, however many are followed: a third of what a session may send. */
const APART_MS = 200;

interface Watched {
  readonly at: number;
  readonly path: { readonly id: string; readonly commandId: string };
  dueMs: number;
  delayMs: number;
}

/**
 * Follows commands to their end. Each is asked for by itself, with growing pauses; all of them together at most every
 * 200 ms; one of which the server tells that it is over, at once.
 */
export async function follow(entries: readonly Entry[], following: Following): Promise<Entry[]> {
  const { client, sender, signal, waitMs, over, told } = following;
  const result = [...entries];
  const now = () => performance.now();
  const startedMs = now();
  const endMs = waitMs === undefined ? Number.POSITIVE_INFINITY : startedMs + waitMs;
  let watched = entries.flatMap(({ device, command }, at): Watched[] => {
    if (command === undefined || !isOpen(command)) return [];
    const path = { id: command.deviceId ?? device.id, commandId: command.id };
    return [{ at, path, dueMs: startedMs + FIRST_MS, delayMs: FIRST_MS }];
  });
  let wake = new AbortController();
  told?.((commandId) => {
    const one = watched.find(({ path }) => path.commandId === commandId);
    if (one === undefined) return;
    one.dueMs = 0;
    wake.abort();
  });
  const settle = async (one: Watched, entry: Entry) => {
    watched = watched.filter((other) => other !== one);
    result[one.at] = entry;
    await over(entry, watched.length);
  };
  while (watched.length > 0 && !signal.aborted && now() < endMs) {
    const next = watched.reduce((a, b) => (b.dueMs < a.dueMs ? b : a));
    wake = new AbortController();
    const restMs = Math.min(Math.max(next.dueMs - now(), 0), endMs - now());
    if (restMs > 0) {
      await pause(restMs, undefined, { signal: AbortSignal.any([signal, wake.signal]) }).catch(() => undefined);
      continue;
    }
    const entry = result[next.at] as Entry;
    try {
      const command = await sender.read((options) => client.deviceCommands.get({ params: next.path }, options));
      if (!isOpen(command)) await settle(next, ended(entry, command));
      else result[next.at] = { ...entry, command: command as Command };
    } catch (error) {
      if (isInterruption(error) || signal.aborted) break;
      const { exit, error: described } = describeError(error);
      await settle(next, { ...entry, outcome: "failed", exit, error: described });
    }
    next.delayMs = Math.min(next.delayMs * GROWTH, told === undefined ? LONGEST_MS : LONGEST_TOLD_MS);
    next.dueMs = now() + next.delayMs;
    await pause(APART_MS, undefined, { signal }).catch(() => undefined);
  }
  const open = new Set(watched.map(({ at }) => at));
  return result.map((entry, at) => (open.has(at) ? { ...entry, outcome: "open" } : entry));
}
