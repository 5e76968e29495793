import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

/** How the server's own database is made to take no writes, and to take them again. */
interface Trouble {
  readonly name: string;
  readonly reason: string;
  begin(server: TestServer): Promise<() => Promise<void>>;
}

const writer = (server: TestServer) => server.services.store.connection("system");
const pragma = (server: TestServer, text: string) => sql.raw(`pragma ${text}`).execute(writer(server));

const full: Trouble = {
  name: "a full disk",
  reason: "the disk of the database is full",
  async begin(server) {
    await pragma(server, "max_page_count = 1");
    const fill = async () => {
      const row = { holder: "x".repeat(3_000), expiresAt: server.clock.now() };
      for (;;) {
        const name = crypto.randomUUID();
        await server.db
          .insertInto("leases")
          .values({ name, ...row })
          .execute();
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: "SQLITE_FULL" });
    return async () => {
      await pragma(server, "max_page_count = 1073741823");
      await server.db.deleteFrom("leases").where("holder", "like", "xxx%").execute();
    };
  },
};

const readOnlyFile: Trouble = {
  name: "a file that is read-only",
  reason: "the database takes no writes: it is read-only",
  async begin(server) {
    await pragma(server, "query_only = 1");
    return async () => void (await pragma(server, "query_only = 0"));
  },
};

const standby: Trouble = {
  name: "a Postgres that takes no writes, as one in recovery",
  reason: "the database takes no writes: it is read-only",
  async begin(server) {
    const url = new URL(server.services.store.url as string);
    const name = url.pathname.slice(1);
    url.pathname = "/postgres";
    const set = async (value: string) => {
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      await client.query(`alter database "${name}" ${value}`);
      await client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
      await client.end();
    };
    await set("set default_transaction_read_only = on");
    return () => set("reset default_transaction_read_only");
  },
};

const exhausted: Trouble = {
  name: "a pool whose connections are all in use",
  reason: "the database did not answer within 2 s",
  async begin(server) {
    const release: (() => void)[] = [];
    const held = Array.from({ length: 5 }, () =>
      writer(server)
        .transaction()
        .execute(async (tx) => {
          await sql`select 1`.execute(tx);
          await new Promise<void>((resolve) => release.push(resolve));
        }),
    );
    await expect.poll(() => release.length).toBe(5);
    return async () => {
      for (const end of release) end();
      await Promise.all(held);
    };
  },
};

describe.each(databases)("readiness where %s takes no writes (C60)", (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(database);
  });
  afterAll(() => server?.stop());

  const ask = async (path: string) => {
    server.clock.advance(2_000);
    const answer = await fetch(`${server.url}${path}`);
    return { status: answer.status, body: (await answer.json()) as Record<string, never> };
  };

  it.each(database === "sqlite" ? [full, readOnlyFile] : [standby, exhausted])(
    "is 503 with the reason for $name, liveness stays, and it recovers by itself",
    async ({ begin, reason }) => {
      expect((await ask("/health/ready")).status).toBe(200);
      const end = await begin(server);
      try {
        await expect
          .poll(async () => (await ask("/health/ready")).body, { timeout: 20_000 })
          .toMatchObject({ code: "SERVICE_UNAVAILABLE", checks: { writes: "error" }, reasons: [reason] });
        expect((await ask("/health/ready")).status).toBe(503);
        expect(await ask("/health/live")).toEqual({ status: 200, body: { status: "ok" } });
      } finally {
        await end();
      }
      await expect.poll(async () => (await ask("/health/ready")).status, { timeout: 20_000 }).toBe(200);
    },
  );

  it("leaves nothing of its probe", async () => {
    await ask("/health/ready");
    const left = await server.db.selectFrom("leases").select("name").where("name", "like", "probe %").execute();
    expect(left).toEqual([]);
  });
});
