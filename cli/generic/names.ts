import type { RmmClient } from "#sdk/client";
import type { Context } from "../context.ts";
import { CliError } from "../errors/cli-error.ts";
import { suggestions } from "../suggest.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isId = (value: string): boolean => uuid.test(value);

interface Org {
  id: string;
  name: string;
  slug: string;
}
interface Site {
  id: string;
  name: string;
  orgId: string;
}

/** Turns names into ids. Each list is asked for once, and only when a name is met. */
export interface Names {
  /** Slug first, then name; letter case does not matter. */
  orgId(name: string): Promise<string>;
  /** Within one organization where that is known. */
  siteId(name: string, orgId: string | undefined): Promise<string>;
  /** By slug; partners other than the own one are known to system scope only. */
  partnerId(slug: string): Promise<string>;
  /** What is known of an organization without asking. */
  known(orgId: string): Org | undefined;
}

export function namesOf(context: Context): Names {
  let orgs: Promise<Org[]> | undefined;
  const met = new Map<string, Org>();
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
    partnerId: async (slug) =>
      isId(slug) ? slug.toLowerCase() : findPartner(await context.client(), slug, context.shell.signal),
    orgId: async (name) => (isId(name) ? name.toLowerCase() : pickOrg(name, await allOrgs()).id),
    siteId: async (name, orgId) => {
      if (isId(name)) return name.toLowerCase();
      const found = (await sitesOf(orgId)).filter((site) => same(site.name, name));
      if (found.length === 1) return found[0]!.id;
      if (found.length === 0)
        throw unknown(
          "site",
          name,
          (await sitesOf(orgId)).map((site) => site.name),
        );
      const orgsById = new Map((await allOrgs().catch(() => [])).map((org) => [org.id, org.slug]));
      throw ambiguous(
        "site",
        name,
        found.map((site) => `${site.id}  ${site.name} (${orgsById.get(site.orgId) ?? site.orgId})`),
      );
    },
  };
}

const fold = (text: string): string => text.trim().normalize("NFC").toLowerCase();
const same = (a: string, b: string): boolean => fold(a) === fold(b);

function pickOrg(name: string, orgs: readonly Org[]): Org {
  const bySlug = orgs.filter((org) => same(org.slug, name));
  const found = bySlug.length > 0 ? bySlug : orgs.filter((org) => same(org.name, name));
  if (found.length === 1) return found[0]!;
  if (found.length === 0)
    throw unknown(
      "organization",
      name,
      orgs.map((org) => org.slug),
    );
  throw ambiguous(
    "organization",
    name,
    found.map((org) => `${org.id}  ${org.slug}  ${org.name}`),
  );
}

function unknown(what: string, name: string, candidates: readonly string[]): CliError {
  const close = suggestions(name, candidates);
  return new CliError(`There is no ${what} ${name}`, {
    exit: "notFound",
    code: `UNKNOWN_${what.toUpperCase()}`,
    hint: close.length > 0 ? `Did you mean ${close.join(" or ")}?` : undefined,
  });
}

const ambiguous = (what: string, name: string, candidates: string[]): CliError =>
  new CliError(`More than one ${what} is called ${name}`, {
    exit: "usage",
    code: `AMBIGUOUS_${what.toUpperCase()}`,
    details: candidates,
    hint: `Give its id instead${what === "site" ? ", or --org" : ""}`,
  });

/** The own partner first: only system scope may list them. */
async function findPartner(client: RmmClient, slug: string, signal: AbortSignal): Promise<string> {
  const { scope } = await client.users.me({}, { signal });
  const known =
    scope === "system"
      ? await client.partners.list({ query: { limit: 100 } }, { signal }).toArray()
      : [await client.partners.getMine({}, { signal })];
  const found = known.find((partner) => same(partner.slug, slug));
  if (found !== undefined) return found.id;
  throw unknown(
    "partner",
    slug,
    known.map((partner) => partner.slug),
  );
}

async function listOrgs(context: Context): Promise<Org[]> {
  const client: RmmClient = await context.client();
  return client.organizations.listAccessible({}, { signal: context.shell.signal }).toArray();
}

async function listSites(context: Context, orgId: string | undefined): Promise<Site[]> {
  const client: RmmClient = await context.client();
  const query = { limit: "100", ...(orgId === undefined ? {} : { orgId }) };
  return client.sites.list({ query }, { signal: context.shell.signal }).toArray();
}
