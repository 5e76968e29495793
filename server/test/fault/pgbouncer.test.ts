import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { dropDatabase } from "#fixtures/postgres";
import { examineDatabase } from "#server/doctor";
import { seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { migratedPostgres } from "../migrated-database.ts";
import { type Pooler, pgbouncerPath, startPgbouncer, whyNoPgbouncer } from "./pgbouncer.ts";

if (pgbouncerPath === undefined) console.warn(`skipped: ${whyNoPgbouncer}`);

describe.skipIf(pgbouncerPath === undefined)("behind a real PgBouncer (C57)", () => {
  let database: string;
  let pooler: Pooler | undefined;
  let server: TestServer | undefined;

  const pooled = async (settings: Record<string, string>) => {
    database = await migratedPostgres();
    pooler = await startPgbouncer(database, { ignore_startup_parameters: "options", ...settings });
    return pooler.url;
  };
  afterEach(async () => {
    await server?.stop();
    await pooler?.stop();
    await dropDatabase(database);
    server = undefined;
    pooler = undefined;
  });

  it.each([
    ["several sessions", { default_pool_size: "4" }],
    ["one session", { default_pool_size: "1" }],
    ["every statement", { pool_mode: "statement", default_pool_size: "4" }],
    ["sessions in turn", { default_pool_size: "20", server_round_robin: "1" }],
    ["start-up options refused", { default_pool_size: "4", ignore_startup_parameters: "extra_float_digits" }],
  ])("the start is refused where transactions share %s, and so says the doctor", async (_, settings) => {
    const url = await pooled({ pool_mode: "transaction", ...settings });
    const started = startTestServer("sqlite", { DATABASE_URL: url });
    await expect(started.then((running) => running.stop())).rejects.toThrow(
      /pooler that shares its sessions.*pool_mode session/,
    );
    await expect(examineDatabase({ dataDir: "unused", databaseUrl: url })).rejects.toThrow(
      /pooler that shares its sessions/,
    );
  });

  it("serves tenants where every connection keeps its session, also when the sessions are killed", async () => {
    const url = await pooled({ pool_mode: "session", default_pool_size: "60" });
    server = await startTestServer("sqlite", { DATABASE_URL: url });
    const { orgIds, partnerId } = await seedPartner(server, "acme", ["acme"]);
    const { token } = await server.signIn({ role: "Partner Admin", partnerId, orgAccess: "all" });
    const list = async () => {
      const { status, body } = await (server as TestServer).request("GET", "/orgs/organizations", { token });
      return [status, body.data?.map(({ id }: { id: string }) => id)];
    };
    expect(await Promise.all(Array.from({ length: 12 }, list))).toEqual(
      Array.from({ length: 12 }, () => [200, orgIds]),
    );
    const owner = new pg.Client({ connectionString: database });
    await owner.connect();
    await owner.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
    );
    await owner.end();
    await expect.poll(list, { timeout: 20_000 }).toEqual([200, orgIds]);
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
  });
});
