import { setTimeout as pause } from "node:timers/promises";
import { RmmError } from "#sdk/rmm-error";
import type { Chosen } from "../chosen.ts";

/** One thing that is other than before. */
export interface Change {
  readonly at: string;
  readonly hostname: string;
  /** A field of the device, `added` or `gone`. */
  readonly change: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly orgName: string;
  readonly deviceId: string;
}

const watched = ["status", "hostname", "displayName", "orgName", "siteName", "lastUser", "agentVersion"] as const;
const more = ["pendingReboot", "watchdogStatus", "mainAgentSilentSince", "pendingCommandCount"] as const;

/** What differs between two looks at the same selection. That a device was heard of is told only where it is asked for. */
export function changesBetween(
  before: ReadonlyMap<string, Chosen>,
  after: ReadonlyMap<string, Chosen>,
  { at, seen }: { at: string; seen: boolean },
): Change[] {
  const about = ({ id, hostname, orgName }: Chosen) => ({ at, hostname, orgName, deviceId: id });
  const fields = [...watched, ...more, ...(seen ? (["lastSeenAt"] as const) : [])];
  const changed = [...after.values()].flatMap((device): Change[] => {
    const old = before.get(device.id);
    if (old === undefined) return [{ ...about(device), change: "added", before: null, after: device.status }];
    return fields
      .filter((field) => (old[field] ?? null) !== (device[field] ?? null))
      .map((field) => ({ ...about(device), change: field, before: old[field] ?? null, after: device[field] ?? null }));
  });
  const gone = [...before.values()].filter(({ id }) => !after.has(id));
  return [
    ...changed,
    ...gone.map((device) => ({ ...about(device), change: "gone", before: device.status, after: null })),
  ];
}

export interface Rounds {
  readonly read: () => Promise<readonly Chosen[]>;
  readonly signal: AbortSignal;
  readonly pauseMs: number;
  readonly now: () => number;
  readonly seen: boolean;
  /** The server could not be asked; told once until it answers again. */
  readonly away: (message: string) => Promise<void>;
}

/** A pause is at least this often as long as the question took: a large fleet is looked at less often. */
const SHARE = 4;

/** Looks again and again until the signal; the first look is told as it is, each later one by what changed. */
export async function* rounds({ read, signal, pauseMs, now, seen, away }: Rounds) {
  let known: ReadonlyMap<string, Chosen> | undefined;
  let lost = false;
  while (!signal.aborted) {
    const begun = performance.now();
    try {
      const devices = await read();
      const next = new Map(devices.map((device) => [device.id, device]));
      const at = new Date(now()).toISOString();
      yield { devices, changes: known === undefined ? undefined : changesBetween(known, next, { at, seen }) };
      [known, lost] = [next, false];
    } catch (error) {
      if (signal.aborted) return;
      if (known === undefined || !(error instanceof RmmError && (error.retryable || error.status === undefined)))
        throw error;
      if (!lost) await away(error.message);
      lost = true;
    }
    const restMs = Math.max(pauseMs, SHARE * (performance.now() - begun));
    await pause(restMs, undefined, { signal }).catch(() => undefined);
  }
}
