import { newKey } from "../diff-keys.ts";
import { changedFields, createdFields, pick } from "../fields.ts";
import { matchByName } from "../match.ts";
import { type FileKey, type FileOrganization, type FileSite, foldName, type ProvisioningModel } from "../model.ts";
import type { Conflict, Note, OrganizationPlan, Plan, Step } from "../plan.ts";
import type { ExportedOrganization, ExportedSite, ExportedState } from "./read-live.ts";

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
    const closed = note(
      "organization",
      slug,
      `a partner key creates no ${file.status} organization: a person must create it`,
    );
    return { plan: nothingFor(slug, [closed]), conflicts: [] };
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
      ...unminted.map(({ name }) =>
        note("enrollmentKey", name, "the export withholds its site: a person must mint it"),
      ),
      ...contactNotes(file),
    ],
  };
  const nameless = own && !file.name ? [{ ...file, message: "a new organization needs a name" }] : [];
  const unknown = unknownSites(file, siteIds);
  const all = [...nameless, ...unknown, ...sites.conflicts, ...keys.conflicts];
  return { plan, conflicts: all.map(({ line, path, message }) => ({ line, path, message })) };
}

const noteFor =
  (organization: string) =>
  (kind: Note["kind"], name: string, message: string): Note => ({ organization, kind, name, message });

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
  const note = (message: string) => noteFor(file.slug)("organization", file.slug, message);
  const changes = live ? changedFields(ofOrganization, { ...live }, { ...file }) : [];
  const unseen = [...onlyByPerson, ...(live ? ["status"] : [])].filter((name) => name in file && given(file, name));
  const mayExist = "the export withholds organizations: if this is one of them, it is there and cannot be created";
  return [
    ...(!live && withheld.organizations ? [note(mayExist)] : []),
    ...changes.map(({ field, before, after }) =>
      note(`${field} ${String(before)} → ${String(after)}: a person must change it`),
    ),
    ...(unseen.length > 0
      ? [note(`a partner key can neither see nor set ${unseen.join(", ")}: a person must look`)]
      : []),
  ];
}

const given = (file: FileOrganization, name: string): boolean =>
  (file as unknown as Record<string, unknown>)[name] !== undefined;

const contactNotes = ({ slug, contacts = [] }: FileOrganization): Note[] =>
  contacts.length === 0
    ? []
    : [
        noteFor(slug)(
          "contact",
          `${contacts.length} in the file`,
          "a partner key sees no contacts: a person must see to them",
        ),
      ];

const shapes: Record<"address" | "contact", readonly string[]> = {
  address: ["line1", "line2", "city", "region", "postalCode", "country"],
  contact: ["name", "email", "phone"],
};

function diffSites(file: FileOrganization, organization: ExportedOrganization | undefined, state: ExportedState) {
  const live = organization ? state.sites.filter(({ orgId }) => orgId === organization.id) : [];
  const { pairs, rest, conflicts } = matchByName(file.sites ?? [], live, "sites");
  const hidden = organization !== undefined && state.withheld.sitesOf.has(organization.id);
  const note = noteFor(file.slug);
  const missing = pairs.filter((pair) => !pair.live).map((pair) => pair.file);
  const withheld = "the export withholds sites of this organization: a person must see whether it exists";
  return {
    live,
    hidden,
    steps: hidden ? [] : missing.map(siteStep),
    notes: [
      ...(hidden ? missing.map(({ name }) => note("site", name, withheld)) : []),
      ...pairs.flatMap((pair) => siteNotes(pair.file, pair.live).map((text) => note("site", pair.file.name, text))),
      ...(file.sites === undefined
        ? []
        : rest.map(({ name }) => note("site", name, "the file does not list it: a person must delete it"))),
    ],
    conflicts,
    unchanged: pairs.length - missing.length,
  };
}

function siteStep(file: FileSite): Step {
  const body = {
    ...pick(["name", "timezone"], { ...file }),
    ...(file.address ? { address: known(file.address, shapes.address) } : {}),
    ...(file.contact ? { contact: known(file.contact, shapes.contact) } : {}),
  };
  const { name, line } = file;
  return { action: "create", kind: "site", name, line, changes: createdFields(body), body };
}

/** The part of a free object that the partner API takes. */
const known = (from: Readonly<Record<string, unknown>>, names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (typeof from[name] === "string" ? [[name, from[name]]] : [])));

/** What is not as the file says, as far as the export shows it, and what it cannot show. */
function siteNotes(file: FileSite, live: ExportedSite | undefined): string[] {
  const different: string[] = [];
  const unseen: string[] = file.settings === undefined ? [] : ["settings"];
  for (const part of ["address", "contact"] as const) {
    const wanted = file[part];
    if (!wanted) {
      if (wanted === null && live?.[part]) different.push(part);
      continue;
    }
    const names = shapes[part];
    unseen.push(
      ...Object.keys(wanted)
        .filter((name) => !names.includes(name))
        .map((name) => `${part}.${name}`),
    );
    const has = (live?.[part] ?? {}) as Readonly<Record<string, unknown>>;
    const differs = names.some((name) => (has[name] ?? null) !== (known(wanted, names)[name] ?? null));
    if (live && differs) different.push(part);
  }
  if (live && file.timezone !== undefined && file.timezone !== live.timezone) different.push("timezone");
  if (live && file.name !== live.name) different.push("name");
  return [
    ...(different.length > 0 ? [`differs in ${different.join(", ")}: a person must change it`] : []),
    ...(unseen.length > 0 ? [`a partner key can neither see nor set ${unseen.join(", ")}: a person must look`] : []),
  ];
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
