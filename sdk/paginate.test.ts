import { afterEach, describe, expect, test } from "vitest";
import { createClient } from "./client.ts";
import { ResponseInvalidError, ServerError } from "./errors.ts";
import { nodeTransport } from "./node.ts";
import type { ClientOptions } from "./options.ts";
import { type Handler, refusal, type Stub, stubServer } from "./stub-server.ts";

let stub: Stub;
afterEach(() => stub?.close());

async function client(handler: Handler, options: Partial<ClientOptions> = {}) {
  stub = await stubServer(handler);
  const transport = nodeTransport();
  return createClient({ baseUrl: stub.url, transport, credentials: { token: "t" }, retries: 0, ...options });
}

const queryOf = (path: string) => new URL(path, "http://x").searchParams;
const rows = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: String(from + index) }));

/** `total` rows in pages. */
const pages =
  (total: number): Handler =>
  ({ path }) => {
    const page = Number(queryOf(path).get("page") ?? 1);
    const limit = Number(queryOf(path).get("limit") ?? 50);
    const from = (page - 1) * limit;
    return {
      body: { data: rows(from, Math.max(0, Math.min(limit, total - from))), pagination: { page, limit, total } },
    };
  };

describe("a list by pages", () => {
  test("iterates over all entries, keeping the query", async () => {
    const rmm = await client(pages(120));
    const seen: string[] = [];
    for await (const site of rmm.sites.list({ query: { limit: 50 } })) seen.push(site.id);
    expect(seen).toEqual(rows(0, 120).map((row) => row.id));
    expect(stub.seen.map(({ path }) => queryOf(path).toString())).toEqual([
      "limit=50",
      "limit=50&page=2",
      "limit=50&page=3",
    ]);
  });

  test("gives its first page with total and raw answer when awaited, and sends nothing more", async () => {
    const rmm = await client(pages(120));
    const page = await rmm.sites.list();
    expect(page).toMatchObject({ total: 120, hasNext: true });
    expect(page.items).toHaveLength(50);
    expect(page.raw.pagination.limit).toBe(50);
    expect(stub.seen).toHaveLength(1);
  });

  test("toArray stops at its limit without asking for more", async () => {
    const rmm = await client(pages(500));
    expect(await rmm.sites.list().toArray({ limit: 60 })).toHaveLength(60);
    expect(stub.seen).toHaveLength(2);
  });

  test("pages() gives page after page", async () => {
    const rmm = await client(pages(120));
    const sizes: number[] = [];
    for await (const page of rmm.sites.list().pages()) sizes.push(page.items.length);
    expect(sizes).toEqual([50, 50, 20]);
  });

  test("a second page that fails fails the whole, never a shorter list", async () => {
    const rmm = await client((seen, response, count) =>
      count === 2 ? refusal(500, "INTERNAL_ERROR") : pages(120)(seen, response, count),
    );
    await expect(rmm.sites.list().toArray()).rejects.toBeInstanceOf(ServerError);
    expect(stub.seen).toHaveLength(2);
  });

  test("goes on without a total while pages are full", async () => {
    const rmm = await client(({ path }) => {
      const page = Number(queryOf(path).get("page") ?? 1);
      const entries = rows(page * 10, page < 3 ? 10 : 4);
      return { body: { entries, pagination: { page, limit: 10, total: -1, totalPages: -1 } } };
    });
    const first = await rmm.auditLogs.list({ query: { skipCount: true, limit: 10 } });
    expect(first.total).toBeUndefined();
    expect(await first.toArray()).toHaveLength(24);
    expect(queryOf(stub.seen[0]?.path ?? "").get("skipCount")).toBe("true");
  });
});

describe("a list by cursor", () => {
  const cursors: Handler = ({ path }) => {
    const cursor = queryOf(path).get("cursor");
    return {
      body: { devices: rows(Number(cursor), 2), nextCursor: cursor === "4" ? null : String(Number(cursor) + 2) },
    };
  };

  test("starts with an empty cursor and follows it", async () => {
    const rmm = await client(cursors);
    const hosts = await rmm.devices.list({ query: { orgIds: ["a", "b"] } }).toArray();
    expect(hosts.map((device) => device.id)).toEqual(["0", "1", "2", "3", "4", "5"]);
    expect(stub.seen.map(({ path }) => queryOf(path).get("cursor"))).toEqual(["", "2", "4"]);
    expect(queryOf(stub.seen[2]?.path ?? "").get("orgIds")).toBe("a,b");
  });

  test("can be read by pages where the caller asks for one", async () => {
    const rmm = await client(pages(60));
    expect(await rmm.devices.list({ query: { page: 1 } }).toArray()).toHaveLength(60);
    expect(stub.seen.every(({ path }) => !queryOf(path).has("cursor"))).toBe(true);
  });

  test("a cursor that does not move on is an error, not an endless loop", async () => {
    const rmm = await client(() => ({ body: { devices: rows(0, 1), nextCursor: "same" } }));
    await expect(rmm.devices.list().toArray()).rejects.toBeInstanceOf(ResponseInvalidError);
  });
});

test("a list that is whole has no next page", async () => {
  const rmm = await client(() => ({ body: { data: rows(0, 3) } }));
  const page = await rmm.organizations.listAccessible();
  expect(page.hasNext).toBe(false);
  expect(await page.toArray()).toHaveLength(3);
});
