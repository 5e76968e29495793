import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { boundReads, boundsOf, ReadGivenUp } from "#server/db/read-bounds";
import type { Call } from "#server/http/call";
import { type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { limited } from "./limited.ts";

const NO_ID = "0190c0de-0000-7000-8000-000000000000";
const paths = [
  "/audit-logs",
  "/audit-logs/logs",
  "/audit-logs/search?q=x",
  `/audit-logs/logs/${NO_ID}`,
  "/audit-logs/export",
  "/audit-logs/stats",
  "/audit-logs/reports/user-activity",
  "/audit-logs/reports/security-events",
  "/audit-logs/reports/compliance",
];

describe("reads of the audit log on Postgres", () => {
  let server: TestServer;
  let admin: SignedInUser;
  const limits: number[] = [];
  /** Replaces the limit that the server sets. */
  let limitMs: number | undefined;

  beforeAll(async () => {
    server = await startTestServer("postgres");
    const { partnerId } = await seedPartner(server, "acme", ["acme-west"]);
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    const query = pg.Client.prototype.query as (this: pg.Client, config: unknown) => unknown;
    vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, config: { text?: string }) {
      const found = /^set statement_timeout = (\d+)$/.exec(config.text ?? "");
      if (found) limits.push(Number(found[1]));
      const asked = found && limitMs !== undefined ? { ...config, text: `set statement_timeout = ${limitMs}` } : config;
      return query.call(this, asked);
    } as never);
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await server?.stop();
  });
  const read = (path: string) => server.request("GET", path, { token: admin.token });

  it.each(paths)("GET %s has ten seconds, and is 422 FILTER_TIMEOUT when they are over", async (path) => {
    limits.length = 0;
    const status = path.endsWith(NO_ID) ? 404 : 200;
    expect((await read(path)).status).toBe(status);
    expect(limits.length).toBeGreaterThan(0);
    for (const ms of limits) expect([ms > 5_000, ms <= 10_000]).toEqual([true, true]);
    const owner = new pg.Client({ connectionString: server.services.store.url as string });
    await owner.connect();
    await owner.query("begin; lock table audit_logs in access exclusive mode");
    limitMs = 50;
    const late = await read(path);
    limitMs = undefined;
    await owner.end();
    expect([late.status, late.body.code]).toEqual([422, "FILTER_TIMEOUT"]);
    // The next statement on its connection has no such limit.
    expect((await read(path)).status).toBe(status);
    expect((await read("/orgs/organizations")).status).toBe(200);
  });
});

describe("the limit itself", () => {
  const call = { scope: { kind: "system" } } as Call;
  boundReads(call.scope, { gone: new AbortController().signal });
  const failing = (error: Error) => limited(async () => Promise.reject(error))(call);

  it("holds for all reads of a request together", async () => {
    const untilMs = await limited(async ({ scope }: Call) => boundsOf(scope)?.untilMs)(call);
    expect(Math.abs((untilMs as number) - performance.now() - 10_000)).toBeLessThan(1_000);
  });

  it("is told apart from other failures", async () => {
    await expect(failing(new ReadGivenUp("RMM_READ_LATE"))).rejects.toMatchObject({ code: "FILTER_TIMEOUT" });
    await expect(failing(new ReadGivenUp("RMM_READ_FULL"))).rejects.toMatchObject({ code: "RMM_READ_FULL" });
  });
});
