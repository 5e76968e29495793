import type { LiveContact, LiveKey, LiveOrganization, LiveSite } from "./live.ts";
import { matchContacts } from "./match.ts";
import { fileStatuses, foldName } from "./model.ts";

/** A provisioning file as plain data, and what it could not say. */
export interface Exported {
  readonly file: { readonly apiVersion: "rmm/v1"; readonly organizations: readonly Record<string, unknown>[] };
  readonly warnings: readonly string[];
}

export interface ExportOptions {
  /** Namesakes get numbers, for another server: on this one the numbered would be new. */
  readonly numberNamesakes?: boolean;
}

/**
 * What the server has, as the file that describes it: planning with it shows no change. Secrets are not in it, so
 * keys have no sink. The order follows from the content alone.
 */
export function exportModel(lives: readonly LiveOrganization[], options: ExportOptions = {}): Exported {
  const parts = lives
    .toSorted((a, b) => compare(a.organization.slug, b.organization.slug))
    .map((live) => organizationOf(live, options));
  return {
    file: { apiVersion: "rmm/v1", organizations: parts.map(({ entry }) => entry) },
    warnings: parts.flatMap(({ warnings }) => warnings),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Leaves out what is null or empty: absent keeps, and there is nothing to keep. */
const filled = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && !isEmpty(value)),
  );

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

function organizationOf(live: LiveOrganization, { numberNamesakes = false }: ExportOptions) {
  const { organization, contacts } = live;
  const sites = numberNamesakes ? numbered(live.sites) : live.sites;
  const keys = numberNamesakes ? numbered(live.keys) : live.keys;
  const { slug, name, type, status, maxDevices, contractStart, contractEnd, billingContact, settings } = organization;
  const warnings: string[] = [];
  const siteNames = nameable(sites);
  for (const one of namesakes(sites)) warnings.push(`${slug}: ${one}, so the file leaves its sites as they are`);
  const keysOk = nameable(keys) !== undefined;
  for (const one of namesakes(keys, "enrollment keys"))
    warnings.push(`${slug}: ${one}, so the file leaves its enrollment keys as they are`);
  const people = contacts.map((one) => contactOf(one, siteNames));
  const peopleOk = isUnambiguous(contacts, people, siteNames);
  if (!peopleOk)
    warnings.push(`${slug}: some contacts cannot be told apart, so the file leaves its contacts as they are`);
  const entry = {
    slug,
    name,
    ...filled({
      type,
      status: (fileStatuses as readonly string[]).includes(status) ? status : undefined,
      maxDevices,
      contractStart: dayOf(contractStart),
      contractEnd: dayOf(contractEnd),
      billingContact,
      settings,
      sites: siteNames ? sites.map(siteOf).sort(byName) : undefined,
      contacts: peopleOk ? people.sort((a, b) => compare(sortKey(a), sortKey(b))) : undefined,
      enrollmentKeys: keysOk ? keys.map((key) => keyOf(key, siteNames)).sort(byName) : undefined,
    }),
  };
  return { entry, warnings };
}

const byName = (a: Record<string, unknown>, b: Record<string, unknown>) =>
  compare(String(a["name"]), String(b["name"]));
const sortKey = ({ site = "", name = "", email = "", phone = "" }: Record<string, unknown>) =>
  [site, name, email, phone].join("\u0000");

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Names by id, if each stands for one object. */
const nameable = (all: readonly Named[]): ReadonlyMap<string, string> | undefined =>
  alike(all).some((group) => group.length > 1) ? undefined : new Map(all.map(({ id, name }) => [id, name]));

/** `two sites have one name: HQ (id), hq (id)`. */
const namesakes = (all: readonly Named[], what = "sites"): string[] =>
  alike(all)
    .filter((group) => group.length > 1)
    .map((group) => {
      const named = group.map(({ id, name }) => `${name} (${id})`).join(", ");
      return `${group.length === 2 ? "two" : group.length} ${what} have one name: ${named}`;
    });

/** The first of a name keeps it, the others are `HQ (2)`, `HQ (3)`, past what others are called. */
function numbered<T extends Named>(all: readonly T[]): T[] {
  const taken = new Set(all.map(({ name }) => foldName(name)));
  const renamed = new Map<string, string>();
  for (const [, ...others] of alike(all)) {
    let number = 2;
    for (const { id, name } of others) {
      while (taken.has(foldName(`${name} (${number})`))) number++;
      renamed.set(id, `${name} (${number})`);
      taken.add(foldName(`${name} (${number})`));
    }
  }
  return all.map((one) => ({ ...one, name: renamed.get(one.id) ?? one.name }));
}

/** Groups of one name, in each the older first, as ids tell. */
function alike<T extends Named>(all: readonly T[]): T[][] {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(foldName(one.name), [...(groups.get(foldName(one.name)) ?? []), one]);
  return [...groups.values()].map((group) => group.toSorted((a, b) => compare(a.id, b.id)));
}

const siteOf = ({ name, timezone, address, contact, settings }: LiveSite): Record<string, unknown> => ({
  name,
  timezone,
  ...filled({ address, contact, settings }),
});

function contactOf(live: LiveContact, sites: ReadonlyMap<string, string> | undefined): Record<string, unknown> {
  const { name, email, phone, mobile, title, roles, isPrimary, notes, siteId } = live;
  const site = siteId === null ? undefined : sites?.get(siteId);
  // Without sites, contacts of different sites would claim to be first in one place.
  const first = isPrimary && (siteId === null || site !== undefined) ? true : undefined;
  return filled({ name, email, phone, mobile, title, roles, isPrimary: first, site, notes });
}

function keyOf(
  { name, siteId, maxUsage, expiresAt }: LiveKey,
  sites: ReadonlyMap<string, string> | undefined,
): Record<string, unknown> {
  const site = siteId === null ? undefined : sites?.get(siteId);
  return { name, ...(site === undefined ? {} : { site }), maxUsage, expiresAt };
}

/** `2026-01-01` where it is the start of that day in UTC. */
const dayOf = (instant: string | null): string | null => instant?.replace("T00:00:00.000Z", "") ?? null;

/** Whether a file with these entries would find each contact again. */
function isUnambiguous(
  lives: readonly LiveContact[],
  entries: readonly Record<string, unknown>[],
  sites: ReadonlyMap<string, string> | undefined,
): boolean {
  const known = lives.map((one) => ({
    ...one,
    siteName: one.siteId === null ? null : (sites?.get(one.siteId) ?? null),
  }));
  const files = entries.map((entry) => ({ line: 0, path: "", lines: {}, ...entry }));
  const { pairs, conflicts } = matchContacts(files, known);
  return conflicts.length === 0 && pairs.every(({ live }, at) => live?.id === lives[at]?.id);
}
