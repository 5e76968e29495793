import type { ListCall } from "#sdk/call";
import type { RmmClient } from "#sdk/client";
import { CliError } from "../errors/cli-error.ts";
import { inParallel } from "./in-parallel.ts";
import type { LiveMe, LiveOrg, LiveOrganization, LiveState } from "./live.ts";
import type { FileOrganization, ProvisioningModel } from "./model.ts";
import { resolvePartner } from "./resolve-partner.ts";

/** Sends one read, within the budget of requests. */
export type Read = <T>(call: () => PromiseLike<T>) => Promise<T>;

const PAGE = 100;

/** Reads everything that the file manages: all pages of every list, or it fails. */
export async function readLive(
  rmm: RmmClient,
  model: Pick<ProvisioningModel, "partner" | "organizations">,
  read: Read,
): Promise<LiveState> {
  const me = await read(() => rmm.users.me());
  const partnerId = await resolvePartner(rmm, me, model.partner, read);
  const found = await listOrganizations(rmm, { me, partnerId }, read);
  const bySlug = new Map(found.map((one) => [one.slug, one]));
  const missing = model.organizations.some(({ slug }) => !bySlug.has(slug));
  if (missing) for (const one of await listHidden(rmm, { me, partnerId }, read)) bySlug.set(one.slug, one);
  const wanted = model.organizations.flatMap((file) => {
    const organization = bySlug.get(file.slug);
    return organization ? [{ file, organization }] : [];
  });
  const lives = await inParallel(wanted, ({ file, organization }) => readOrganization(rmm, file, organization, read));
  return { me, partnerId, organizations: new Map(lives.map((one) => [one.organization.slug, one])) };
}

export interface Reach {
  readonly me: Pick<LiveMe, "scope">;
  readonly partnerId: string | undefined;
}

/** All organizations that the caller can reach inside the partner. */
export async function listOrganizations(rmm: RmmClient, { me, partnerId }: Reach, read: Read): Promise<LiveOrg[]> {
  if (me.scope === "organization") return all("organizations", () => rmm.organizations.listAccessible(), read);
  const query = { limit: PAGE, ...(me.scope === "system" && partnerId !== undefined ? { partnerId } : {}) };
  return all("organizations", () => rmm.organizations.list({ query }), read);
}

/** A slug stays taken by an organization that ordinary lists hide. */
async function listHidden(rmm: RmmClient, { me, partnerId }: Reach, read: Read): Promise<LiveOrg[]> {
  if (me.scope === "organization") return [];
  const scope = me.scope === "system" && partnerId !== undefined ? { partnerId } : {};
  const lists = await inParallel(["archived", "offboarding", "merging"] as const, (status) =>
    all("organizations", () => rmm.organizations.list({ query: { limit: PAGE, status, ...scope } }), read),
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
    sites: managed === undefined ? [] : await all("sites", () => rmm.sites.list({ query }), read),
    contacts:
      contacts === undefined
        ? []
        : await all("contacts", () => rmm.contacts.list({ params: { id: orgId }, query: { limit: PAGE } }), read),
    keys:
      enrollmentKeys === undefined ? [] : await all("enrollment keys", () => rmm.enrollmentKeys.list({ query }), read),
  };
}

const ATTEMPTS = 3;

/** A list that changes while it is read is read again; one that never holds still is an error, never a shorter list. */
async function all<I extends { id: string }, R>(what: string, list: () => ListCall<I, R>, read: Read): Promise<I[]> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const found = new Map<string, I>();
    let page = await read(list);
    for (;;) {
      for (const item of page.items) found.set(item.id, item);
      if (!page.hasNext) break;
      const { next } = { next: page };
      page = (await read(() => next.next() as Promise<typeof page>)) as typeof page;
    }
    if (page.total === undefined || page.total === found.size) return [...found.values()];
  }
  throw new CliError(`The list of ${what} changed while it was read, ${ATTEMPTS} times in a row`, {
    exit: "tryLater",
    code: "LIST_CHANGED",
    hint: "Run the command again",
  });
}
