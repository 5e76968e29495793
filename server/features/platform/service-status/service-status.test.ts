import { createHash } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allEndpoints } from "#contract/index";
import { emitEvents } from "#server/events/emit";
import { makeDevices } from "../../../test/devices.ts";
import { tamper } from "../../../test/e2e/tamper.ts";
import { makeSite } from "../../../test/enroll.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("service status on %s", (database) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer(database, { METRICS_SCRAPE_TOKEN: "scrape-me" });
  });
  afterAll(() => server?.stop());

  const root = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}${path}`, { headers });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };

  it("answers its probes at the root and under the prefix, without a credential", async () => {
    for (const prefix of ["", "/api/v1"]) {
      expect(JSON.parse((await root(`${prefix}/health`)).text)).toEqual({
        status: "ok",
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        uptimeSeconds: expect.any(Number),
      });
      expect((await root(`${prefix}/health/live`)).text).toBe('{"status":"ok"}');
      const ready = await root(`${prefix}/health/ready`);
      expect([ready.status, JSON.parse(ready.text)]).toEqual([
        200,
        { status: "ready", checks: { database: "ok", writes: "ok", migrations: "ok", workers: "ok", audit: "ok" } },
      ]);
    }
  });

  it("is not ready while the schedules are left lying, and says so; a long job is no fault", async () => {
    const look = async () => {
      server.clock.advance(2_000);
      const answer = await root("/health/ready");
      const { status, checks } = JSON.parse(answer.text);
      return [answer.status, status, checks];
    };
    const now = server.clock.now();
    const jobId = server.services.random.uuid();
    await server.db
      .insertInto("leases")
      .values({ name: "scheduler", holder: "gone", expiresAt: "2026-01-01T00:00:00.000Z" })
      .execute();
    expect(await look()).toEqual([
      503,
      "not_ready",
      { database: "ok", writes: "ok", migrations: "ok", workers: "error", audit: "ok" },
    ]);
    await server.db.deleteFrom("leases").where("name", "=", "scheduler").execute();
    expect(await look()).toEqual([
      200,
      "ready",
      { database: "ok", writes: "ok", migrations: "ok", workers: "ok", audit: "ok" },
    ]);
    await server.db
      .insertInto("jobs")
      .values({
        id: jobId,
        kind: "later",
        payload: {},
        status: "running",
        uniqueKey: null,
        runAt: "2026-01-01T00:00:00.000Z",
        attempts: 1,
        maxAttempts: 1,
        lockedBy: "w",
        lockedUntil: "2099-01-01T00:00:00.000Z",
        lastError: null,
        createdAt: now,
        updatedAt: now,
      })
      .execute();
    expect((await look())[0]).toBe(200);
    await server.db.deleteFrom("jobs").where("id", "=", jobId).execute();
  });

  it("is not ready while an audit entry waits that nobody moves", async () => {
    const look = async () => {
      server.clock.advance(2_000);
      const answer = await root("/health/ready");
      return [answer.status, JSON.parse(answer.text).checks];
    };
    const held = server.services.random.uuid();
    const entry = {
      auditId: held,
      orgId: null,
      partnerId: null,
      entry: JSON.stringify(["not an entry"]),
      checksum: null,
    };
    await server.db
      .insertInto("auditOutbox")
      .values({ ...entry, createdAt: server.clock.now() })
      .execute();
    expect((await look())[0]).toBe(200);
    server.clock.advance(5 * 60_000);
    expect(await look()).toEqual([
      503,
      { database: "ok", writes: "ok", migrations: "ok", workers: "error", audit: "ok" },
    ]);
    await tamper(server, `delete from audit_outbox where audit_id = '${held}'`);
    expect((await look())[0]).toBe(200);
  });

  it("is not ready while events wait for their position, and is while a consumer is behind", async () => {
    const look = async () => {
      server.clock.advance(2_000);
      const answer = await root("/health/ready");
      return [answer.status, JSON.parse(answer.text).reasons];
    };
    const numbering = await server.db
      .deleteFrom("eventCursors")
      .where("consumer", "=", "numbering")
      .returningAll()
      .executeTakeFirstOrThrow();
    await server.db
      .insertInto("eventCursors")
      .values({ consumer: "slow", position: 0, attempts: 3, retryAt: "2099-01-01T00:00:00.000Z", setAside: 2 })
      .execute();
    const data = { siteId: server.services.random.uuid(), siteName: "HQ" };
    await server.db
      .transaction()
      .execute((tx) => emitEvents(tx, server.services, "site.created", [{ orgId: null, data }]));
    expect((await look())[0]).toBe(200);
    server.clock.advance(5 * 60_000);
    expect(await look()).toEqual([503, ["events wait for more than 5 minutes: nobody numbers them"]]);
    const shown = async () => (await root("/metrics", { authorization: "Bearer scrape-me" })).text;
    expect(await shown()).toMatch(/^events_waiting\{consumer="slow"\} 1$/m);
    await server.db.insertInto("eventCursors").values(numbering).execute();
    await expect.poll(shown).toMatch(/^events_waiting\{consumer="numbering"\} 0$/m);
    expect((await look())[0]).toBe(200);
    expect(await shown()).toMatch(/^events_waiting\{consumer="slow"\} 1$/m);
    expect(await shown()).toMatch(/^events_set_aside\{consumer="slow"\} 2$/m);
    await server.db.deleteFrom("eventCursors").where("consumer", "=", "slow").execute();
    // Devices are counted once in ten seconds.
    server.clock.advance(10_000);
  });

  it("keeps its answer for two seconds", async () => {
    server.clock.advance(2_000);
    expect((await root("/health/ready")).status).toBe(200);
    await server.db
      .insertInto("leases")
      .values({ name: "scheduler", holder: "gone", expiresAt: "2026-01-01T00:00:00.000Z" })
      .execute();
    server.clock.advance(1_999);
    expect((await root("/health/ready")).status).toBe(200);
    server.clock.advance(1);
    const late = await root("/health/ready");
    expect([late.status, JSON.parse(late.text)]).toMatchObject([
      503,
      { code: "SERVICE_UNAVAILABLE", status: "not_ready" },
    ]);
    await server.db.deleteFrom("leases").where("name", "=", "scheduler").execute();
  });

  it("shows metrics for the scrape token, without tenants or ids in them", async () => {
    const { orgIds } = await seedPartner(server, "acme", ["acme"]);
    const orgId = orgIds[0] as string;
    await makeDevices(server, [{ orgId, siteId: await makeSite(server, orgId), status: "offline" }]);
    for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: "Basic scrape-me" }]) {
      expect((await root("/metrics", headers as Record<string, string>)).status).toBe(401);
    }
    await root("/api/v1/devices/019cadc6-9e68-70d6-8a64-56b44938e554");
    await root("/nowhere/at/all");
    const { status, text, headers } = await root("/metrics", { authorization: "Bearer scrape-me" });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toContain("text/plain; version=0.0.4");
    expect(text).toMatch(/^devices_total\{status="offline"\} 1$/m);
    expect(text).toMatch(/^devices_total\{status="online"\} 0$/m);
    expect(text).toMatch(/http_requests_total\{method="GET",route="\/api\/v1\/devices\/:id",status_class="4xx"\} 1/);
    expect(text).toMatch(/route="unmatched"/);
    expect(text).not.toContain("019cadc6");
    expect(text).not.toContain(orgId);
  });

  it("serves the contract as OpenAPI, every endpoint in it, the same text every time", async () => {
    const first = await root("/openapi.json");
    expect(first.headers.get("content-type")).toContain("application/json");
    const document = JSON.parse(first.text);
    expect(document.openapi).toMatch(/^3\.1/);
    for (const endpoint of allEndpoints()) {
      const path = endpoint.path.replace(/:([A-Za-z]+)/g, "{$1}");
      expect(document.paths[path]?.[endpoint.method.toLowerCase()]?.operationId).toBe(
        `${endpoint.noun}.${endpoint.verb}`,
      );
    }
    expect((await root("/api/v1/openapi.json")).text).toBe(first.text);
  });

  it("shows the API on a page that loads from this server alone, under a policy without exceptions", async () => {
    for (const prefix of ["", "/api/v1"]) {
      const { status, text, headers } = await root(`${prefix}/docs`);
      expect(status).toBe(200);
      expect(headers.get("content-type")).toContain("text/html");
      const policy = headers.get("content-security-policy") as string;
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      const inline = [...text.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script]) => script as string);
      expect(inline).toHaveLength(1);
      const hash = createHash("sha256")
        .update(inline[0] as string)
        .digest("base64");
      expect(policy).toContain(`script-src 'self' 'sha256-${hash}'`);
      expect(text).not.toMatch(/https?:\/\/|<style| style=| on\w+=/);
      const loaded = [...text.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, address]) => address as string);
      expect(loaded).toEqual(["docs/swagger-ui.css", "docs/swagger-ui-bundle.js"]);
      for (const address of loaded) {
        const file = await root(`${prefix}/${address}`);
        expect(file.status).toBe(200);
        expect(file.headers.get("content-type")).toMatch(address.endsWith(".css") ? /^text\/css/ : /^text\/javascript/);
        expect(file.headers.get("x-content-type-options")).toBe("nosniff");
        expect(file.text.length).toBeGreaterThan(100_000);
      }
    }
  });

  it("serves nothing else beside the page, and answers no other method", async () => {
    for (const path of ["LICENSE", "package.json", "../package.json", "..%2fpackage.json", "swagger-ui.css/x", ""]) {
      const { status, headers } = await root(`/docs/${path}`);
      expect([path, status, headers.get("content-type")?.split(";")[0]]).toEqual(
        path === "" ? ["", 200, "text/html"] : [path, 404, "application/json"],
      );
    }
    const { url } = server;
    expect((await fetch(`${url}/docs/swagger-ui.css`, { method: "POST" })).status).toBe(405);
    expect((await fetch(`${url}/docs/swagger-ui.css`, { method: "HEAD" })).status).toBe(200);
  });
});

describe("readiness", () => {
  it("misses a migration that the database does not have", async () => {
    const server = await startTestServer("sqlite");
    try {
      await sql`delete from kysely_migration where name = '0004-devices'`.execute(server.db);
      const response = await fetch(`${server.url}/health/ready`);
      expect([response.status, await response.json()]).toMatchObject([
        503,
        {
          status: "not_ready",
          checks: { database: "ok", writes: "ok", migrations: "error", workers: "ok", audit: "ok" },
        },
      ]);
    } finally {
      await server.stop();
    }
  });
});

describe("service status in production", () => {
  it("has no docs page and no metrics unless they are configured", async () => {
    const server = await startTestServer("sqlite", {
      NODE_ENV: "production",
      JWT_SECRET: "j".repeat(32),
      SECRET_ENCRYPTION_KEY: "s".repeat(32),
    });
    try {
      for (const path of ["/docs", "/docs/swagger-ui.css", "/api/v1/docs/swagger-ui-bundle.js", "/metrics"]) {
        const response = await fetch(`${server.url}${path}`);
        expect([path, response.status, ((await response.json()) as { code: string }).code]).toEqual([
          path,
          404,
          "NOT_FOUND",
        ]);
      }
      expect((await fetch(`${server.url}/openapi.json`)).status).toBe(200);
    } finally {
      await server.stop();
    }
  });
});
