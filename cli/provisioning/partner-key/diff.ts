import { changedFields, createdFields, pick } from "../fields.ts";
import { type FileOrganization, foldName, type ProvisioningModel } from "../model.ts";
import { type Left, type Note, noteFor } from "../note.ts";
import type { OrganizationPlan, Plan, Step } from "../plan.ts";
import { diffKeys, keyNotes, type PartnerDiffOptions } from "./diff-keys.ts";
import { cannotSet, diffSites, isEmptyField, unseenFields } from "./diff-sites.ts";
import type { ExportedOrganization, ExportedState } from "./read-live.ts";

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
  const body = createBody(file);
  const keys = diffKeys(file, { organization: live, body }, options);
  const siteIds = new Map(sites.live.map(({ name, id }) => [foldName(name), id]));
  const own = live ? undefined : createOf(file, body);
  const siteless = (step: Step) =>
    sites.hidden && typeof step.key?.site === "string" && !siteIds.has(foldName(step.key.site));
  const unminted = keys.steps.filter(siteless);
  const minted = keys.steps.filter((step) => !siteless(step));
  // It may be among the organizations that are withheld.
  const isNew = !live && !state.withheld.organizations;
  const plan: OrganizationPlan = {
    slug,
    id: live?.id,
    organization: own,
    sites: sites.steps,
    contacts: [],
    keys: minted,
    deletes: [],
    siteIds,
    unchanged: (own ? 0 : 1) + sites.unchanged + keys.unchanged,
    notes: [
      ...organizationNotes(file, live, state),
      ...sites.notes,
      ...unminted.map((step) => note(step, "differs", "the export withholds its site: a person must mint it")),
      ...contactNotes(file, isNew),
      ...(live ? keyNotes(file, minted, keys.unchanged) : []),
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

const createBody = (file: FileOrganization) => ({
  slug: file.slug,
  ...pick(["name", "type", "status"], { ...file }),
});

function createOf(file: FileOrganization, body: Step["body"]): Step {
  const { slug: name, line } = file;
  return { action: "create", kind: "organization", name, line, changes: createdFields(body), body };
}

function organizationNotes(
  file: FileOrganization,
  live: ExportedOrganization | undefined,
  { withheld }: ExportedState,
): Note[] {
  const { slug: name, line } = file;
  const note = (left: Left, message: string, more: Pick<Note, "changes" | "unseen"> = {}): Note => ({
    ...noteFor(name)({ kind: "organization", name, line }, left, message),
    ...more,
  });
  const changes = live ? changedFields(ofOrganization, { ...live }, { ...file }) : [];
  // What the export lists is active or in trial; which of them it does not say.
  const closes = live !== undefined && !creatable.includes(file.status);
  const beyond = onlyByPerson.filter((field) => given(file, field));
  // Whom this run makes lacks what a partner key cannot set, but for what is empty anyway.
  const isNew = !live && !withheld.organizations;
  const lacking = isNew ? changedFields(beyond, {}, { ...file }).filter(({ after }) => !isEmptyField(after)) : [];
  const status = live && !closes && given(file, "status") ? ["status"] : [];
  const unseen = [...(isNew ? [] : beyond), ...status];
  const mayExist = "the export withholds organizations: if this is one of them, it is there and cannot be created";
  return [
    ...(!live && withheld.organizations ? [note("look", mayExist)] : []),
    ...changes.map((change) => {
      const { field, before, after } = change;
      const message = `${field} ${String(before)} → ${String(after)}: a person must change it`;
      return note("differs", message, { changes: [change] });
    }),
    ...(closes ? [note("differs", `status is not ${file.status}: a person must change it`)] : []),
    ...(lacking.length > 0
      ? [note("differs", cannotSet(lacking.map(({ field }) => field)), { changes: lacking })]
      : []),
    ...(unseen.length > 0 ? [note("look", unseenFields(unseen), { unseen })] : []),
  ];
}

const given = (file: FileOrganization, name: string): boolean =>
  (file as unknown as Record<string, unknown>)[name] !== undefined;

function contactNotes({ slug, contacts, line }: FileOrganization, isNew: boolean): Note[] {
  if (contacts === undefined || (isNew && contacts.length === 0)) return [];
  const all = { kind: "contact", name: `${contacts.length} in the file`, line: contacts[0]?.line ?? line } as const;
  const note = noteFor(slug);
  return isNew
    ? [note(all, "differs", "a partner key creates no contacts: a person must add them")]
    : [{ ...note(all, "look", "a partner key sees no contacts: a person must see to them"), unseen: ["contacts"] }];
}

/** Where the file does not list the sites, those of the export count. */
function unknownSites({ sites, slug, enrollmentKeys = [] }: FileOrganization, siteIds: ReadonlyMap<string, string>) {
  if (sites !== undefined) return [];
  return enrollmentKeys
    .filter(({ site }) => site && !siteIds.has(foldName(site)))
    .map(({ line, path, site }) => ({ line, path, message: `${slug} has no site ${site}, and the file lists none` }));
}
