import { type Handler, refusal, type Stub, stubServer } from "#sdk/stub-server";

export const ids = {
  contoso: "11111111-1111-4111-8111-111111111111",
  fabrikam: "22222222-2222-4222-8222-222222222222",
  twin: "33333333-3333-4333-8333-333333333333",
  hq: "44444444-4444-4444-8444-444444444444",
  otherHq: "55555555-5555-4555-8555-555555555555",
};

export const orgs = [
  { id: ids.contoso, slug: "contoso-dental", name: "Contoso Dental" },
  { id: ids.fabrikam, slug: "fabrikam", name: "Twins" },
  { id: ids.twin, slug: "twin", name: "Twins" },
];
export const sites = [
  { id: ids.hq, orgId: ids.contoso, name: "HQ", timezone: "UTC" },
  { id: ids.otherHq, orgId: ids.fabrikam, name: "HQ", timezone: "UTC" },
];
export const KEY = "f00dfeed".repeat(8);

type Routes = Record<string, (seen: Parameters<Handler>[0], query: URLSearchParams) => ReturnType<Handler>>;

/** A stand-in for the API that knows two organizations, and whatever a test adds. */
export async function stubApi(extra: Routes = {}): Promise<Stub> {
  const routes: Routes = {
    "GET /orgs": () => ({ body: { data: orgs } }),
    "GET /orgs/sites": (_seen, query) => {
      const of = query.get("orgId");
      return paged(
        sites.filter((site) => of === null || site.orgId === of),
        query,
      );
    },
    "POST /enrollment-keys": ({ body }) => ({ status: 201, body: { id: ids.twin, ...(body as object), key: KEY } }),
    "GET /enrollment-keys": (_seen, query) =>
      paged([{ id: ids.twin, name: "hq", siteId: null, orgId: ids.contoso }], query),
    ...extra,
  };
  return stubServer((seen, response, count) => {
    const url = new URL(seen.path, "http://stub");
    const path = url.pathname.replace("/api/v1", "");
    const route = routes[`${seen.method} ${path}`] ?? routes[`${seen.method} ${path.replace(/\/[^/]*$/, "/*")}`];
    if (route === undefined) return refusal(404, "NOT_FOUND");
    void response;
    void count;
    return route(seen, url.searchParams);
  });
}

/** A page of a list, as the API cuts it. */
export function paged(all: readonly unknown[], query: URLSearchParams) {
  const page = Number(query.get("page") ?? 1);
  const limit = Math.min(100, Number(query.get("limit") ?? 50));
  const data = all.slice((page - 1) * limit, page * limit);
  return { body: { data, pagination: { page, limit, total: all.length } } };
}

/** Writes of a run: what changed something on the server. */
export const writesOf = (stub: Stub) => stub.seen.filter(({ method }) => method !== "GET");
