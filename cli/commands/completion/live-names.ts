import type { Context } from "../../context.ts";
import { namesOf } from "../../generic/names.ts";

const BUDGET_MS = 900;

/** Slugs of the organizations one can reach. Empty when the server does not answer within a second. */
export const liveOrgs = (context: Context): Promise<[string, string][]> =>
  within(context, async (bounded) => {
    const client = await bounded.client();
    const orgs = await client.organizations.listAccessible({}, { signal: bounded.shell.signal, retries: 0 }).toArray();
    return orgs.map(({ slug, name }) => [slug, name]);
  });

/** Names of sites, of the chosen organization where there is one. */
export const liveSites = (context: Context): Promise<[string, string][]> =>
  within(context, async (bounded) => {
    const org = bounded.settings.org.value;
    const orgId = org === undefined ? undefined : await namesOf(bounded).orgId(org);
    const client = await bounded.client();
    const query = { limit: "100", ...(orgId === undefined ? {} : { orgId }) };
    const sites = await client.sites
      .list({ query }, { signal: bounded.shell.signal, retries: 0 })
      .toArray({ limit: 1000 });
    return sites.map(({ name, timezone }) => [name, timezone]);
  });

/** Keys of custom fields, names of device groups, tags: what an expression may name beside tenants. */
export const liveWords = (context: Context, what: "custom" | "groupId" | "tags"): Promise<[string, string][]> =>
  within(context, async (bounded) => {
    const client = await bounded.client();
    const org = bounded.settings.org.value;
    const query = org === undefined ? {} : { orgId: await namesOf(bounded).orgId(org) };
    const once = { signal: bounded.shell.signal, retries: 0 };
    if (what === "tags") return (await client.tags.list({ query }, once).toArray()).map(({ tag }) => [tag, ""]);
    if (what === "groupId")
      return (await client.deviceGroups.list({ query }, once).toArray()).map(({ name, type }) => [name, type]);
    const fields = client.customFields.list({ query: { ...query, limit: 100 } }, once);
    return (await fields.toArray({ limit: 1000 })).map(({ fieldKey, name }) => [fieldKey, name]);
  });

async function within(
  context: Context,
  work: (bounded: Context) => Promise<[string, string][]>,
): Promise<[string, string][]> {
  const signal = AbortSignal.timeout(BUDGET_MS);
  const bounded = { ...context, shell: { ...context.shell, signal } };
  const late = new Promise<[string, string][]>((resolve) => signal.addEventListener("abort", () => resolve([])));
  return Promise.race([work(bounded).catch(() => []), late]);
}
