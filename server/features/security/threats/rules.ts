import { isDeepStrictEqual } from "node:util";
import type {
  rawThreatStatuses,
  threatCategories,
  threatSeverities,
  threatStatuses,
} from "#contract/resources/security/threats";

type RawStatus = (typeof rawThreatStatuses)[number];

/** What is known of a threat. */
export interface ThreatFacts {
  readonly externalId: string | null;
  readonly providerId: string | null;
  readonly name: string;
  readonly category: (typeof threatCategories)[number] | null;
  readonly severity: (typeof threatSeverities)[number];
  readonly rawStatus: RawStatus;
  readonly filePath: string | null;
  readonly detectedAt: string;
}

export interface StoredThreat extends ThreatFacts {
  readonly id: string;
}

/** What a report makes of the threats of a device. */
export interface MergedThreats {
  readonly added: readonly ThreatFacts[];
  readonly changed: readonly { readonly before: StoredThreat; readonly after: StoredThreat }[];
  readonly dropped: readonly string[];
  /** Active or allowed afterwards: what the device's status counts. */
  readonly inEffect: number;
}

/** Of a device: so many open threats, and so many removed ones. */
export const KEPT_MAX = 1_000;

const meanings: Readonly<Record<RawStatus, (typeof threatStatuses)[number]>> = {
  detected: "active",
  active: "active",
  failed: "active",
  quarantined: "quarantined",
  removed: "removed",
  allowed: "removed",
};

export const statusOf = ({ rawStatus }: Pick<ThreatFacts, "rawStatus">) => meanings[rawStatus];
const isOpen = (threat: ThreatFacts): boolean => statusOf(threat) !== "removed";
const isInEffect = (threat: ThreatFacts): boolean => statusOf(threat) === "active" || threat.rawStatus === "allowed";

interface Entry {
  readonly before: StoredThreat | undefined;
  now: ThreatFacts;
}

/**
 * One row stands for a threat of this name and path while it is open; what is said of another time is another one once
 * that is over (docs/security.md, "Threats"). The same report again changes nothing, in whichever order it says it.
 */
export function mergeThreats(stored: readonly StoredThreat[], reported: readonly ThreatFacts[]): MergedThreats {
  const entries: Entry[] = stored.map(({ id, ...now }) => ({ before: { id, ...now }, now }));
  const alike = new Map<string, Entry[]>();
  const known = (key: string) => alike.get(key) ?? [];
  for (const entry of entries) alike.set(keyOf(entry.now), [...known(keyOf(entry.now)), entry]);
  let open = entries.filter(({ now }) => isOpen(now)).length;
  for (const item of reported.toSorted(byTime)) {
    const of = known(keyOf(item));
    const entry = entryFor(of, item);
    const opens = isOpen(item) && !(entry && isOpen(entry.now));
    if (opens && open >= KEPT_MAX) continue;
    if (opens) open += 1;
    else if (!isOpen(item) && entry && isOpen(entry.now)) open -= 1;
    if (entry) entry.now = updated(entry.now, item);
    else {
      const added = { before: undefined, now: item };
      entries.push(added);
      alike.set(keyOf(item), [...of, added]);
    }
  }
  return differences(entries);
}

function entryFor(alike: readonly Entry[], item: ThreatFacts): Entry | undefined {
  const same = alike.find(({ now }) => now.detectedAt === item.detectedAt);
  const open = alike.find(({ now }) => isOpen(now));
  if (isOpen(item)) return open ?? same;
  return same ?? (open && open.now.detectedAt <= item.detectedAt ? open : undefined);
}

const updated = (known: ThreatFacts, said: ThreatFacts): ThreatFacts => ({
  ...said,
  externalId: said.externalId ?? known.externalId,
  providerId: said.providerId ?? known.providerId,
  category: said.category ?? known.category,
  // Of two times the later one, in whichever order they are told.
  ...(said.detectedAt < known.detectedAt ? { detectedAt: known.detectedAt } : {}),
});

function differences(entries: readonly Entry[]): MergedThreats {
  const removed = entries.filter(({ now }) => !isOpen(now)).toSorted((a, b) => byTime(b.now, a.now));
  const beyond = new Set(removed.slice(KEPT_MAX));
  const kept = entries.filter((entry) => !beyond.has(entry));
  return {
    added: kept.flatMap(({ before, now }) => (before ? [] : [now])),
    changed: kept.flatMap(({ before, now }) => {
      if (!before) return [];
      const after = { ...now, id: before.id };
      return isDeepStrictEqual(before, after) ? [] : [{ before, after }];
    }),
    dropped: [...beyond].flatMap(({ before }) => (before ? [before.id] : [])),
    inEffect: kept.filter(({ now }) => isInEffect(now)).length,
  };
}

const keyOf = ({ name, filePath }: ThreatFacts): string => JSON.stringify([name, filePath ?? ""]);
const byTime = (a: ThreatFacts, b: ThreatFacts): number =>
  a.detectedAt < b.detectedAt ? -1 : a.detectedAt > b.detectedAt ? 1 : 0;
