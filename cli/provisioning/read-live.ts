import type { RmmClient } from "#sdk/client";
import { inParallel } from "./in-parallel.ts";
import type { LiveMe, LiveOrg, LiveOrganization, LiveState } from "./live.ts";
import type { FileOrganization, ProvisioningModel } from "./model.ts";
import { type Read, readAll } from "./read-all.ts";
import { resolvePartner } from "./resolve-partner.ts";

const PAGE = 100;

/** Reads everything that the file manages: all pages of every list, or it fails. `begin` gets the organizations that are there. */
export async function readLive(
  rmm: RmmClient,
  model: Pick<ProvisioningModel, "partner" | "organizations">,
  read: Read,
  begin: (there: readonly FileOrganization[]) => Promise<void> = async () => undefined,
): Promise<LiveState> {
  const me = await read((options) => rmm.users.me({}, options));
  const partnerId = await resolvePartner(rmm, me, model.partner, read);
  const found = await listOrganizations(rmm, { me, partnerId }, read);
  const bySlug = new Map(found.map((one) => [one.slug, one]));
  const missing = model.organizations.some(({ slug }) => !bySlug.has(slug));
  if (missing) for (const one of await listHidden(rmm, { me, partnerId }, read)) bySlug.set(one.slug, one);
  const wanted = model.organizations.flatMap((file) => {
    const organization = bySlug.get(file.slug);
    return organization ? [{ file, organization }] : [];
  });
  await begin(wanted.map(({ file }) => file));
  const lives = await inParallel(wanted, ({ file, organization }) => readOrganization(rmm, file, organization, read));
  const organizations = new Map(lives.map((one) => [one.organization.slug, one]));
  return { me, partnerId, organizations, known: [...bySlug.values()] };
}

export interface Reach {
  readonly me: Pick<LiveMe, "scope">;
  readonly partnerId: string | undefined;
}

/** All organizations that the caller can reach inside the partner. */
export async function listOrganizations(rmm: RmmClient, { me, partnerId }: Reach, read: Read): Promise<LiveOrg[]> {
  if (me.scope === "organization")
    return readAll("organizations", (options) => rmm.organizations.listAccessible({}, options), read);
  const query = { limit: PAGE, ...(me.scope === "system" && partnerId !== undefined ? { partnerId } : {}) };
  return readAll("organizations", (options) => rmm.organizations.list({ query }, options), read);
}

/** A slug stays taken by an organization that ordinary lists hide. */
async function listHidden(rmm: RmmClient, { me, partnerId }: Reach, read: Read): Promise<LiveOrg[]> {
  if (me.scope === "organization") return [];
  const scope = me.scope === "system" && partnerId !== undefined ? { partnerId } : {};
  const lists = await inParallel(["archived", "offboarding", "merging"] as const, (status) =>
    readAll(
      "organizations",
      (options) => rmm.organizations.list({ query: { limit: PAGE, status, ...scope } }, options),
      read,
    ),
  );
  return lists.flat();
}

/** What the file manages of one organization; its sites also where something refers to them. */
export async function readOrganization(
  rmm: RmmClient,
  { sites, contacts, enrollmentKeys }: Pick<FileOrganization, "sites" | "contacts" | "enrollmentKeys">,
  organization: LiveOrg,
  read: Read,
): Promise<LiveOrganization> {
  const orgId = organization.id;
  const query = { orgId, limit: PAGE };
  const managed = sites ?? contacts ?? enrollmentKeys;
  return {
    organization,
    sites: managed === undefined ? [] : await readAll("sites", (options) => rmm.sites.list({ query }, options), read),
    contacts:
      contacts === undefined
        ? []
        : await readAll(
            "contacts",
            (options) => rmm.contacts.list({ params: { id: orgId }, query: { limit: PAGE } }, options),
            read,
          ),
    keys:
      enrollmentKeys === undefined
        ? []
        : await readAll("enrollment keys", (options) => rmm.enrollmentKeys.list({ query }, options), read),
  };
}
