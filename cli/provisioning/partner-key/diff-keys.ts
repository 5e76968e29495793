import { newKey } from "../diff-keys.ts";
import type { FileKey, FileOrganization } from "../model.ts";
import { type Note, noteFor } from "../note.ts";
import type { Conflict, Plan, Step } from "../plan.ts";
import type { ExportedOrganization } from "./read-live.ts";

export interface PartnerDiffOptions {
  readonly nowMs: number;
  /** Whether the secret of a key is where the file wants it. */
  sinkHolds(key: FileKey): boolean;
  /** Mint keys whose existence cannot be checked. */
  readonly redeliver: boolean;
  /** Keys of organizations that are there already count as made: where no file outlives a run. */
  readonly assumeMade: boolean;
}

interface Owner {
  readonly organization: ExportedOrganization | undefined;
  /** What a run of this caller sends to make it. */
  readonly body: Step["body"];
}

/**
 * A key whose secret is in its file exists; of the others only the server knows. In an organization that is there a
 * missing file says nothing: another caller, or another runner, may have minted the key.
 */
export function diffKeys(
  { enrollmentKeys = [] }: FileOrganization,
  { organization, body }: Owner,
  { nowMs, sinkHolds, redeliver, assumeMade }: PartnerDiffOptions,
) {
  const steps: Step[] = [];
  const conflicts: Conflict[] = [];
  let unchanged = 0;
  for (const key of enrollmentKeys) {
    const { line, path, sink } = key;
    const there = sink?.kind === "file" && sinkHolds(key);
    if (there || (organization && assumeMade && !redeliver)) {
      unchanged += 1;
      continue;
    }
    if (organization && sink && sink.kind !== "file" && !redeliver) {
      conflicts.push({ line, path: `${path}.sink`, message: unseenKey });
      continue;
    }
    const made = newKey(key, nowMs);
    conflicts.push(...made.conflicts);
    if (made.step) steps.push(organization && !redeliver ? { ...made.step, onlyIfMadeWith: body } : made.step);
  }
  return { steps, conflicts, unchanged };
}

const unseenKey =
  "a partner key cannot see whether this key exists: give it a file sink, or --no-sink-check to take it as made, or --redeliver, which within a day gives the same secret again and later mints another key";

/** What a partner key does not know of the keys of an organization that is there. */
export function keyNotes(
  { slug, line, enrollmentKeys }: FileOrganization,
  steps: readonly Step[],
  made: number,
): Note[] {
  if (enrollmentKeys === undefined) return [];
  const note = noteFor(slug);
  const unseen = ["enrollment keys"];
  const all = { kind: "enrollmentKey", name: `${enrollmentKeys.length} in the file` } as const;
  const first = enrollmentKeys[0]?.line ?? line;
  const message = "a partner key sees no enrollment keys: those that count as made are not compared";
  const held = `a key of this name may be there, which a partner key does not see: apply mints it only where this partner key made ${slug} within a day; --no-sink-check takes it as made, --redeliver mints it`;
  return [
    ...(made > 0 || enrollmentKeys.length === 0 ? [{ ...note({ ...all, line: first }, "look", message), unseen }] : []),
    ...steps
      .filter(({ onlyIfMadeWith }) => onlyIfMadeWith !== undefined)
      .map((step) => ({ ...note(step, "look", held), unseen })),
  ];
}

/** Said before the first change: who asks for it gets another key of the same name. */
export const remintWarnings = ({ organizations }: Plan): string[] =>
  organizations
    .filter(({ id }) => id !== undefined)
    .flatMap(({ slug, keys }) => keys.map((step) => ({ slug, step })))
    .filter(({ step }) => step.onlyIfMadeWith === undefined)
    .map(
      ({ slug, step }) =>
        `${slug} / ${step.name}: a key of this name may be there, which a partner key does not see; --redeliver mints another, unless this partner key minted it within a day`,
    );
