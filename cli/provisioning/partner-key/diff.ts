import { newKey } from "../diff-keys.ts";
import { changedFields, createdFields, pick } from "../fields.ts";
import { type FileKey, type FileOrganization, foldName, type ProvisioningModel } from "../model.ts";
import { type Left, type Note, noteFor } from "../note.ts";
import type { Conflict, OrganizationPlan, Plan, Step } from "../plan.ts";
import { diffSites } from "./diff-sites.ts";
import type { ExportedOrganization, ExportedState } from "./read-live.ts";

export interface PartnerDiffOptions {
  readonly nowMs: number;
  /** Whether the secret of a key is where the file wants it. */
  sinkHolds(key: FileKey): boolean;
  /** Mint keys whose existence cannot be checked. */
  readonly redeliver: boolean;
  /** Keys of organizations that are there already count as made: where no file outlives a run. */
  readonly assumeMade: boolean;
}

/** Compares the file with the exports. What a partner key can create becomes a step; the rest a note to a person. */
export function diffExports(model: ProvisioningModel, live: ExportedState, options: PartnerDiffOptions): Plan {
  const parts = model.organizations.map((file) => diffOrganization(file, live, options));
  return {
    partnerId: undefined,
    organizations: parts.map(({ plan }) => plan),
    conflicts: parts.flatMap(({ conflicts }) => conflicts).toSorted((a, b) => a.line - b.line),
  };
}

const ofOrganization = ["name", "type"];
const onlyByPerson = ["maxDevices", "contractStart", "contractEnd", "billingContact", "settings"];
const creatable: readonly unknown[] = [undefined, "active", "trial"];

function diffOrganization(file: FileOrganization, state: ExportedState, options: PartnerDiffOptions) {
  const { slug } = file;
  const live = state.organizations.get(slug);
  const note = noteFor(slug);
  if (!live && !creatable.includes(file.status)) {
    const message = `a partner key creates no ${file.status} organization: a person must create it`;
    // An export leaves out closed organizations: it may be there, as the file says.
    return {
      plan: nothingFor(slug, [note({ ...file, kind: "organization", name: slug }, "look", message)]),
      conflicts: [],
    };
  }
  const sites = diffSites(file, live, state);
  const keys = diffKeys(file, live, options);
  const siteIds = new Map(sites.live.map(({ name, id }) => [foldName(name), id]));
  const own = live ? undefined : createOf(file);
  const siteless = (step: Step) =>
    sites.hidden && typeof step.key?.site === "string" && !siteIds.has(foldName(step.key.site));
  const unminted = keys.steps.filter(siteless);
  const plan: OrganizationPlan = {
    slug,
    id: live?.id,
    organization: own,
    sites: sites.steps,
    contacts: [],
    keys: keys.steps.filter((step) => !siteless(step)),
    deletes: [],
    siteIds,
    unchanged: (own ? 0 : 1) + sites.unchanged + keys.unchanged,
    notes: [
      ...organizationNotes(file, live, state),
      ...sites.notes,
      ...unminted.map((step) => note(step, "differs", "the export withholds its site: a person must mint it")),
      ...contactNotes(file),
    ],
  };
  const nameless = own && !file.name ? [{ ...file, message: "a new organization needs a name" }] : [];
  const unknown = unknownSites(file, siteIds);
  const all = [...nameless, ...unknown, ...sites.conflicts, ...keys.conflicts];
  return { plan, conflicts: all.map(({ line, path, message }) => ({ line, path, message })) };
}

const nothingFor = (slug: string, notes: readonly Note[]): OrganizationPlan => ({
  slug,
  id: undefined,
  organization: undefined,
  sites: [],
  contacts: [],
  keys: [],
  deletes: [],
  siteIds: new Map(),
  unchanged: 0,
  notes,
});

function createOf(file: FileOrganization): Step {
  const body = { slug: file.slug, ...pick(["name", "type", "status"], { ...file }) };
  const { slug: name, line } = file;
  return { action: "create", kind: "organization", name, line, changes: createdFields(body), body };
}

function organizationNotes(
  file: FileOrganization,
  live: ExportedOrganization | undefined,
  { withheld }: ExportedState,
): Note[] {
  const { slug: name, line } = file;
  const note = (left: Left, message: string, more: Pick<Note, "changes"> = {}): Note => ({
    ...noteFor(name)({ kind: "organization", name, line }, left, message),
    ...more,
  });
  const changes = live ? changedFields(ofOrganization, { ...live }, { ...file }) : [];
  // What the export lists is active or in trial; which of them it does not say.
  const closes = live !== undefined && !creatable.includes(file.status);
  const unseen = [...onlyByPerson, ...(live && !closes ? ["status"] : [])].filter((field) => given(file, field));
  const mayExist = "the export withholds organizations: if this is one of them, it is there and cannot be created";
  return [
    ...(!live && withheld.organizations ? [note("look", mayExist)] : []),
    ...changes.map((change) => {
      const { field, before, after } = change;
      const message = `${field} ${String(before)} → ${String(after)}: a person must change it`;
      return note("differs", message, { changes: [change] });
    }),
    ...(closes ? [note("differs", `status is not ${file.status}: a person must change it`)] : []),
    ...(unseen.length > 0
      ? [note("look", `a partner key can neither see nor set ${unseen.join(", ")}: a person must look`)]
      : []),
  ];
}

const given = (file: FileOrganization, name: string): boolean =>
  (file as unknown as Record<string, unknown>)[name] !== undefined;

function contactNotes({ slug, contacts = [] }: FileOrganization): Note[] {
  const [first] = contacts;
  if (!first) return [];
  const all = { kind: "contact", name: `${contacts.length} in the file`, line: first.line } as const;
  return [noteFor(slug)(all, "look", "a partner key sees no contacts: a person must see to them")];
}

/** A key whose secret is in its file exists; of the others only the server knows. */
function diffKeys(
  { enrollmentKeys = [] }: FileOrganization,
  organization: ExportedOrganization | undefined,
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
    if (made.step) steps.push(made.step);
  }
  return { steps, conflicts, unchanged };
}

const unseenKey =
  "a partner key cannot see whether this key exists: give it a file sink, or --no-sink-check to take it as made, or --redeliver, which within a day gives the same secret again and later mints another key";

/** Where the file does not list the sites, those of the export count. */
function unknownSites({ sites, slug, enrollmentKeys = [] }: FileOrganization, siteIds: ReadonlyMap<string, string>) {
  if (sites !== undefined) return [];
  return enrollmentKeys
    .filter(({ site }) => site && !siteIds.has(foldName(site)))
    .map(({ line, path, site }) => ({ line, path, message: `${slug} has no site ${site}, and the file lists none` }));
}
