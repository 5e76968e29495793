import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";

/** Long before the limit of five seconds. */
const SOON_MS = 3_000;
const conditions = { operator: "AND", conditions: [{ field: "hostname", operator: "contains", value: "x" }] };

/** In a thread the same is tested by `sqlite-threads-limits.test.ts`. */
describe("looks at devices that nobody waits for any more, on postgres", () => {
  let server: TestServer;
  let acme: Tenant;
  let admin: SignedInUser;
  let owner: pg.Client;

  beforeAll(async () => {
    server = await startTestServer("postgres");
    acme = await seedTenant(server.db, server.services, "acme");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
    owner = new pg.Client({ connectionString: server.services.store.url });
    await owner.connect();
  });
  afterAll(async () => {
    await owner?.end();
    await server?.stop();
  });

  const waiting = async () => {
    const { rows } = await owner.query(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length;
  };
  const limitOf = async (wall: string) => {
    const { rows } = await sql<{ limit: string }>`select current_setting('statement_timeout') as "limit"`.execute(
      server.services.store.connection(wall),
    );
    return rows[0]?.limit;
  };

  const cases: readonly [name: string, path: string, body: () => object, wall: () => string][] = [
    ["previews", "/filters/preview", () => ({ conditions }), () => `partner:${acme.partnerId}`],
    [
      "new groups",
      "/groups",
      () => ({ orgId: acme.orgId, name: "Left", type: "dynamic", filterConditions: conditions }),
      () => "system",
    ],
  ];
  it.each(cases)("end in the database: %s", async (_, path, body, wall) => {
    const ask = (signal?: AbortSignal): Promise<Response> =>
      fetch(`${server.url}/api/v1${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${admin.token}`, "content-type": "application/json" },
        body: JSON.stringify(body()),
        ...(signal ? { signal } : {}),
      });
    const before = await limitOf(wall());
    await owner.query("begin; lock table devices in access exclusive mode");
    const leaving = new AbortController();
    const asked = ask(leaving.signal).catch((error: Error) => error.name);
    await expect.poll(waiting, { timeout: 4_000, interval: 20 }).toBe(1);
    leaving.abort();
    const leftMs = performance.now();
    expect(await asked).toBe("AbortError");
    await expect.poll(waiting, { timeout: SOON_MS, interval: 20 }).toBe(0);
    expect(performance.now() - leftMs).toBeLessThan(SOON_MS);
    await owner.query("rollback");
    // The connection serves others as before.
    expect((await ask()).status).toBeLessThan(300);
    expect(await limitOf(wall())).toBe(before);
    const made = await server.db.selectFrom("deviceGroups").select("id").where("name", "=", "Left").execute();
    expect(made).toHaveLength(path === "/groups" ? 1 : 0);
  });
});
