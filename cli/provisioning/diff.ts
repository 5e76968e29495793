import { counted } from "./budget.ts";
import { diffContacts } from "./diff-contacts.ts";
import { diffKeys } from "./diff-keys.ts";
import { bodyOf, changedFields, createdFields, pick } from "./fields.ts";
import type { LiveOrganization, LiveSite, LiveState } from "./live.ts";
import { matchByName } from "./match.ts";
import { type FileKey, type FileOrganization, type FileSite, foldName, type ProvisioningModel } from "./model.ts";
import { deleteOf, type OrganizationPlan, type Part, type Plan, type Step, stepsOf } from "./plan.ts";

export interface DiffOptions {
  readonly nowMs: number;
  /** Whether the secret of an existing key is where the file wants it. */
  sinkHolds(key: FileKey): boolean;
}

const nothing: Part = { steps: [], deletes: [], conflicts: [], unchanged: 0 };

/** Compares what the file says with what the server has. Pure: the same input gives the same plan. */
export function diff(model: ProvisioningModel, live: LiveState, options: DiffOptions): Plan {
  const parts = model.organizations.map((file) => diffOrganization(file, live, options));
  return {
    partnerId: live.partnerId,
    organizations: parts.map(({ plan }) => plan),
    conflicts: parts.flatMap(({ conflicts }) => conflicts).toSorted((a, b) => a.line - b.line),
  };
}

const organizationFields = [
  "name",
  "type",
  "status",
  "maxDevices",
  "contractStart",
  "contractEnd",
  "billingContact",
  "settings",
];
const siteFields = ["name", "timezone", "address", "contact", "settings"];

function diffOrganization(file: FileOrganization, state: LiveState, options: DiffOptions) {
  const live = state.organizations.get(file.slug);
  const sites = file.sites === undefined ? nothing : diffSites(file.sites, live?.sites ?? []);
  const goneSites = new Set(sites.deletes.map(({ id }) => id));
  const contacts = file.contacts === undefined ? nothing : diffContacts(file.contacts, live, goneSites);
  const keys = diffKeys(file, live, { ...options, goneSites, me: state.me });
  const own = live ? updateOf(file, live) : createOf(file);
  const siteIds = new Map((live?.sites ?? []).map(({ name, id }) => [foldName(name), id]));
  const plan: OrganizationPlan = {
    slug: file.slug,
    id: live?.organization.id,
    organization: own,
    sites: sites.steps,
    contacts: contacts.steps,
    keys: keys.steps,
    deletes: [...contacts.deletes, ...keys.deletes, ...sites.deletes],
    siteIds,
    unchanged: (own ? 0 : 1) + sites.unchanged + contacts.unchanged + keys.unchanged,
    notes: keys.notes,
  };
  return {
    plan,
    conflicts: [
      ...closedFor(file, live, plan),
      ...(live || file.name ? [] : [{ ...file, message: "a new organization needs a name" }]),
      ...unknownSites(file, siteIds),
      ...sites.conflicts,
      ...contacts.conflicts,
      ...keys.conflicts,
    ].map(({ line, path, message }) => ({ line, path, message })),
  };
}

const readOnly: readonly string[] = ["churned", "offboarding", "archived", "merging"];

/** What the server would refuse because of the organization's status. */
function closedFor(file: FileOrganization, live: LiveOrganization | undefined, plan: OrganizationPlan) {
  const status = live?.organization.status;
  if (status === undefined || (file.status !== undefined && file.status !== status)) return [];
  if (readOnly.includes(status) && stepsOf(plan).length > 0) {
    return [{ ...file, message: `${file.slug} is ${status}, which nothing may change; set status: active to open it` }];
  }
  const mints = plan.keys.some(({ action }) => action === "create");
  return status === "suspended" && mints
    ? [{ ...file, message: `${file.slug} is suspended, which allows no new enrollment key` }]
    : [];
}

const occupied = (devices: number): string | undefined =>
  devices === 0 ? undefined : `${counted(devices, "device")} must leave it first`;

function createOf(file: FileOrganization): Step {
  const body = { slug: file.slug, ...pick(organizationFields, { ...file }) };
  return {
    action: "create",
    kind: "organization",
    name: file.slug,
    line: file.line,
    changes: createdFields(body),
    body,
  };
}

function updateOf(file: FileOrganization, { organization }: LiveOrganization): Step | undefined {
  const changes = changedFields(organizationFields, { ...organization }, { ...file });
  if (changes.length === 0) return undefined;
  return {
    action: "update",
    kind: "organization",
    name: file.slug,
    id: organization.id,
    line: file.line,
    changes,
    body: bodyOf(changes),
  };
}

function diffSites(files: readonly FileSite[], lives: readonly LiveSite[]): Part {
  const { pairs, rest, conflicts } = matchByName(files, lives, "sites");
  const steps = pairs.flatMap(({ file, live }): Step[] => {
    const about = { kind: "site", name: file.name, line: file.line } as const;
    if (!live) {
      const body = pick(siteFields, { ...file.whenNew, ...file });
      return [{ ...about, action: "create", changes: createdFields(body), body }];
    }
    const changes = changedFields(siteFields, { ...live }, { ...file });
    return changes.length === 0 ? [] : [{ ...about, action: "update", id: live.id, changes, body: bodyOf(changes) }];
  });
  const deletes = rest.map(({ id, name, deviceCount = 0 }) => deleteOf("site", id, name, occupied(deviceCount)));
  return { steps, deletes, conflicts, unchanged: pairs.length - steps.length };
}

/** Where the file does not list the sites, those of the server count. */
function unknownSites(
  { sites, slug, contacts = [], enrollmentKeys = [] }: FileOrganization,
  siteIds: ReadonlyMap<string, string>,
) {
  if (sites !== undefined) return [];
  return [...contacts, ...enrollmentKeys]
    .filter(({ site }) => site && !siteIds.has(foldName(site)))
    .map(({ line, path, site }) => ({ line, path, message: `${slug} has no site ${site}, and the file lists none` }));
}
