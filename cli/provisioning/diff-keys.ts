import { commandToType } from "../errors/commands-to-type.ts";
import { durationOf } from "./durations.ts";
import type { FieldChange } from "./field-change.ts";
import type { LiveKey, LiveMe, LiveOrganization } from "./live.ts";
import { matchByName } from "./match.ts";
import { type FileKey, type FileOrganization, foldName, sinkText } from "./model.ts";
import type { Note } from "./note.ts";
import { type Conflict, deleteOf, type Step } from "./plan.ts";

export interface KeyDiffOptions {
  readonly nowMs: number;
  readonly me: Pick<LiveMe, "id">;
  /** Ids of sites that the plan deletes. */
  readonly goneSites: ReadonlySet<string | undefined>;
  /** Whether the secret of an existing key is where the file wants it. */
  sinkHolds(key: FileKey): boolean;
}

/** The server remembers the answer to a mint for 24 hours; the last one is left for clocks that disagree. */
export const REPLAY_MS = 23 * 3_600_000;

/** Enrollment keys: a missing one is minted, an existing one never again. Its differences are reported, not applied. */
export function diffKeys(file: FileOrganization, live: LiveOrganization | undefined, options: KeyDiffOptions) {
  if (file.enrollmentKeys === undefined) return { steps: [], deletes: [], conflicts: [], notes: [], unchanged: 0 };
  const { pairs, rest, conflicts } = matchByName(file.enrollmentKeys, live?.keys ?? [], "enrollment keys", removal);
  const sites = new Map((live?.sites ?? []).map(({ id, name }) => [id, name]));
  const results = pairs.map(({ file: key, live: existing }) =>
    existing ? existingKey(key, existing, { slug: file.slug, sites, options }) : newKey(key, options.nowMs),
  );
  return {
    steps: results.flatMap(({ step }) => (step ? [step] : [])),
    deletes: rest.map(({ id, name }) => deleteOf("enrollmentKey", id, name)),
    conflicts: [...conflicts, ...results.flatMap((result) => result.conflicts)],
    notes: results.flatMap(({ notes }) => notes),
    unchanged: results.filter(({ step, notes }) => !step && notes.length === 0).length,
  };
}

/** A key cannot be renamed. */
const removal = "keep the one that is in use: `rmm enrollment-keys remove <id>` removes another";

interface KeyResult {
  readonly step?: Step;
  readonly conflicts: readonly Conflict[];
  readonly notes: readonly Note[];
}

/** A key that is minted, or why it cannot be. */
export function newKey(key: FileKey, nowMs: number): KeyResult {
  const { line, path, name, site, maxUsage, expiresAt, expiresInMs, sink } = key;
  const conflict = (message: string): KeyResult => ({ conflicts: [{ line, path, message }], notes: [] });
  if (!sink)
    return conflict("a new key needs a sink, or its secret would be lost: file:PATH, github-output:NAME or stdout");
  if (maxUsage === null) return conflict("a new key cannot be unlimited: give maxUsage up to 100000");
  if (expiresAt !== undefined && Date.parse(expiresAt) <= nowMs) return conflict(`expiresAt ${expiresAt} has passed`);
  const expiry = expiresAt ?? (expiresInMs === undefined ? undefined : `${durationOf(expiresInMs)} after creation`);
  const shown = { name, site: site ?? undefined, maxUsage: maxUsage ?? 1, expiresAt: expiry, sink: sinkText(sink) };
  const changes = Object.entries(shown).flatMap(([field, after]) =>
    after === undefined ? [] : [{ field, before: null, after }],
  );
  const step: Step = {
    action: "create",
    kind: "enrollmentKey",
    name,
    line,
    changes,
    body: {},
    site: site ?? null,
    key,
  };
  return { step, conflicts: [], notes: [] };
}

interface KeyContext {
  readonly slug: string;
  readonly sites: ReadonlyMap<string, string>;
  readonly options: KeyDiffOptions;
}

function existingKey(key: FileKey, live: LiveKey, { slug, sites, options }: KeyContext): KeyResult {
  const note = (message: string, rest: Partial<Note> = {}): Note => ({
    organization: slug,
    kind: "enrollmentKey",
    name: key.name,
    line: key.line,
    left: "differs",
    message,
    ...rest,
  });
  const notes = differences(key, live, sites).map(({ change, remedy, flags }) => {
    const message = `${change.field} ${shown(change.before)} → ${shown(change.after)}: ${remedy}`;
    const command = flags === undefined ? {} : { command: rotation(key, live, flags) };
    return note(message, { changes: [change], ...command });
  });
  const { siteId } = live;
  const conflicts =
    siteId !== null && options.goneSites.has(siteId)
      ? [
          {
            line: key.line,
            path: key.path,
            message: `is bound to site ${sites.get(siteId)}, which the file does not list: deleting the site would delete the key`,
          },
        ]
      : [];
  const { sink } = key;
  if (!sink || options.sinkHolds(key)) return { conflicts, notes };
  if (live.createdBy === options.me.id && isAsMinted(live) && options.nowMs - Date.parse(live.createdAt) < REPLAY_MS) {
    const changes = [{ field: "sink", before: null, after: sinkText(sink) }];
    const step: Step = {
      action: "deliver",
      kind: "enrollmentKey",
      name: key.name,
      id: live.id,
      line: key.line,
      changes,
      body: {},
      key,
    };
    return { step, conflicts, notes };
  }
  return { conflicts, notes: [...notes, lost(note, key, live)] };
}

/** A rotation gave the key another secret since, and the server remembers the first one only. */
export const isAsMinted = ({ createdAt, keyIssuedAt }: LiveKey): boolean => createdAt === keyIssuedAt;

const lost = (note: (message: string, rest: Partial<Note>) => Note, key: FileKey, live: LiveKey): Note =>
  note(`the key exists, but its secret is not in ${key.sink ? sinkText(key.sink) : ""}: rotate it`, {
    command: rotation(key, live, []),
    left: "lost",
  });

/** The command that makes the key as the file says. */
export function rotation({ sink }: FileKey, { id }: { id: string }, flags: readonly string[]): string {
  const file = sink?.kind === "file" ? { "secret-file": sink.path } : {};
  return commandToType(["enrollment-keys", "rotate", id, "--yes", ...flags], file, {});
}

interface Difference {
  readonly change: FieldChange;
  readonly remedy: string;
  readonly flags?: readonly string[];
}

const shown = (value: unknown): string => (value === null ? "(none)" : String(value));

/** A time from the creation is not compared; what a rotation cannot change has no flags. */
function differences(key: FileKey, live: LiveKey, sites: ReadonlyMap<string, string>): Difference[] {
  const found: Difference[] = [];
  const { maxUsage, expiresAt, site } = key;
  const remedy = "needs a rotation";
  if (maxUsage !== undefined && maxUsage !== live.maxUsage) {
    const change = { field: "maxUsage", before: live.maxUsage, after: maxUsage };
    found.push({ change, remedy, flags: maxUsage === null ? [] : ["--max-usage", String(maxUsage)] });
  }
  if (expiresAt !== undefined && expiresAt !== live.expiresAt) {
    const change = { field: "expiresAt", before: live.expiresAt, after: expiresAt };
    found.push({ change, remedy, flags: ["--expires-at", expiresAt] });
  }
  const current = live.siteId === null ? null : (sites.get(live.siteId) ?? live.siteId);
  if (site !== undefined && foldName(site ?? "") !== foldName(current ?? "")) {
    const change = { field: "site", before: current, after: site };
    found.push({ change, remedy: "a key keeps its site; give another key the new one" });
  }
  return found;
}
