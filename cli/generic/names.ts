import type { RmmClient } from "#sdk/client";
import type { Context } from "../context.ts";
import { ambiguousName, areApart, sameName, unknownName } from "./name-errors.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isId = (value: string): boolean => uuid.test(value);

interface Tenant {
  id: string;
  name: string;
  slug: string;
}
interface Site {
  id: string;
  name: string;
  orgId: string;
  deviceCount?: number;
}

/** Turns names into ids. Each list is asked for once, and only when a name is met. */
export interface Names {
  /** Slug first, then name; letter case does not matter. */
  orgId(name: string): Promise<string>;
  /** Within one organization where that is known. */
  siteId(name: string, orgId: string | undefined): Promise<string>;
  /** Slug first, then name; partners other than the own one are known to system scope only. */
  partnerId(name: string): Promise<string>;
  /** The name of an organization; undefined for one that cannot be reached. */
  orgName(orgId: string): Promise<string | undefined>;
  /** What is known of an organization without asking. */
  known(orgId: string): Tenant | undefined;
}

export function namesOf(context: Context): Names {
  let orgs: Promise<Tenant[]> | undefined;
  let partners: Promise<Tenant[]> | undefined;
  const met = new Map<string, Tenant>();
  const sites = new Map<string, Promise<Site[]>>();
  const allOrgs = () => {
    orgs ??= listOrgs(context).then((all) => {
      for (const org of all) met.set(org.id, org);
      return all;
    });
    return orgs;
  };
  const sitesOf = (orgId: string | undefined) => {
    const key = orgId ?? "";
    const known = sites.get(key) ?? listSites(context, orgId);
    sites.set(key, known);
    return known;
  };
  return {
    known: (id) => met.get(id),
    orgName: async (id) => (await allOrgs()).find((org) => org.id === id)?.name,
    partnerId: async (name) => {
      if (isId(name)) return name.toLowerCase();
      partners ??= listPartners(context);
      return pickTenant("partner", name, await partners).id;
    },
    orgId: async (name) => (isId(name) ? name.toLowerCase() : pickTenant("organization", name, await allOrgs()).id),
    siteId: async (name, orgId) => {
      if (isId(name)) return name.toLowerCase();
      const found = (await sitesOf(orgId)).filter((site) => sameName(site.name, name));
      if (found.length === 1) return found[0]!.id;
      if (found.length === 0)
        throw unknownName(
          "site",
          name,
          (await sitesOf(orgId)).map((site) => site.name),
          "`rmm sites list` shows those that there are",
        );
      const orgsById = new Map((await allOrgs().catch(() => [])).map((org) => [org.id, org.slug]));
      const lines = found.map((site) => siteLine(site, orgsById.get(site.orgId)));
      throw ambiguousName("site", name, lines, areApart(found) ? ["--org"] : [RENAME]);
    },
  };
}

const RENAME = "rename one: `rmm sites update <id> --name <name>`";

/** What tells sites of one name apart; a partner key is not told of their devices. */
function siteLine({ id, name, orgId, deviceCount }: Site, slug = orgId): string {
  const devices = deviceCount === undefined ? "" : `  ${deviceCount} ${deviceCount === 1 ? "device" : "devices"}`;
  return `${id}  ${name} (${slug})${devices}`;
}

function pickTenant(what: "organization" | "partner", name: string, tenants: readonly Tenant[]): Tenant {
  const bySlug = tenants.filter((tenant) => sameName(tenant.slug, name));
  const found = bySlug.length > 0 ? bySlug : tenants.filter((tenant) => sameName(tenant.name, name));
  if (found.length === 1) return found[0]!;
  if (found.length === 0)
    throw unknownName(
      what,
      name,
      tenants.map(({ slug }) => slug),
      what === "partner" ? undefined : "`rmm organizations list` shows those that there are",
    );
  throw ambiguousName(
    what,
    name,
    found.map((tenant) => `${tenant.id}  ${tenant.slug}  ${tenant.name}`),
    bySlug.length > 0 ? [] : ["its slug"],
  );
}

/** Only system scope may list them; everybody else has the own one. */
async function listPartners(context: Context): Promise<Tenant[]> {
  const client = await context.client();
  const { signal } = context.shell;
  const { scope } = await client.users.me({}, { signal });
  return scope === "system"
    ? client.partners.list({ query: { limit: 100 } }, { signal }).toArray()
    : [await client.partners.getMine({}, { signal })];
}

/** It finds names in its exports: the lists of people are closed to it. */
const isPartnerKey = async (context: Context): Promise<boolean> => (await context.credential())?.kind === "partnerKey";

async function listOrgs(context: Context): Promise<Tenant[]> {
  const client: RmmClient = await context.client();
  if (await isPartnerKey(context)) {
    const rows = await client.partnerApi.organizations({}, { signal: context.shell.signal }).toArray();
    return rows.flatMap((row) => ("removed" in row ? [] : [row]));
  }
  return client.organizations.listAccessible({}, { signal: context.shell.signal }).toArray();
}

async function listSites(context: Context, orgId: string | undefined): Promise<Site[]> {
  const client: RmmClient = await context.client();
  if (await isPartnerKey(context)) {
    const within = orgId === undefined ? {} : { query: { orgId } };
    const rows = await client.partnerApi.sites(within, { signal: context.shell.signal }).toArray();
    return rows.flatMap((row) => ("removed" in row ? [] : [row]));
  }
  const query = { limit: "100", ...(orgId === undefined ? {} : { orgId }) };
  return client.sites.list({ query }, { signal: context.shell.signal }).toArray();
}
