import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jsonLog } from "#server/platform/log";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../test/harness.ts";

describe.each(databases)("the pipeline on %s", (database) => {
  let server: TestServer;
  let system: SignedInUser;
  let admin: SignedInUser;
  const lines: Record<string, unknown>[] = [];

  beforeAll(async () => {
    server = await startTestServer(
      database,
      {},
      { log: jsonLog("info", (line) => void lines.push(JSON.parse(line) as Record<string, unknown>)) },
    );
    const { partnerId } = await seedPartner(server, "acme");
    system = await server.signIn({ role: "System Admin" });
    admin = await server.signIn({ role: "Partner Admin", partnerId });
  });
  afterAll(() => server?.stop());

  it("answers a change that brings no body like one without a recognised field", async () => {
    for (const options of [{}, { body: {} }, { body: { unheardOf: 1 } }]) {
      const answer = await server.request("PATCH", "/orgs/partners/me", { token: admin.token, ...options });
      expect([answer.status, answer.body.code]).toEqual([400, "NO_UPDATES"]);
    }
    const created = await server.request("POST", "/orgs/organizations", { token: admin.token });
    expect([created.status, created.body.code, created.body.details]).toEqual([
      400,
      "VALIDATION_ERROR",
      [{ path: "", message: "A JSON body is needed" }],
    ]);
  });

  it("names the missing partner on self-service alone; elsewhere another scope is 403", async () => {
    const code = async (method: string, path: string, body?: object) => {
      const answer = await server.request(method, path, { token: system.token, ...(body && { body }) });
      return [answer.status, answer.body.code];
    };
    expect(await code("GET", "/orgs/partners/me")).toEqual([400, "PARTNER_CONTEXT_REQUIRED"]);
    expect(await code("PATCH", "/orgs/partners/me", { name: "x" })).toEqual([400, "PARTNER_CONTEXT_REQUIRED"]);
    expect(await code("PATCH", "/orgs/organizations/order", { orderedIds: [] })).toEqual([403, "FORBIDDEN"]);
  });

  it.each([
    ["a.B_c-9", true],
    ["x".repeat(64), true],
    ["x".repeat(65), false],
    ["has space", false],
    ["a/b", false],
  ])("echoes the request id %j: %s", async (given, taken) => {
    const { headers } = await server.request("GET", "/users/me", {
      token: admin.token,
      headers: { "x-request-id": given },
    });
    const id = headers.get("x-request-id");
    if (taken) expect(id).toBe(given);
    else expect(id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("counts and logs a refusal that belongs to no tenant, without what was sent", async () => {
    const body = { email: "nobody@example.com", password: "Wrong-password-1" };
    const { headers } = await server.request("POST", "/auth/login", { body });
    await expect
      .poll(() => lines.find((line) => line["event"] === "audit.without_tenant"))
      .toMatchObject({
        action: "user.login",
        code: "INVALID_CREDENTIALS",
        requestId: headers.get("x-request-id"),
      });
    expect(JSON.stringify(lines)).not.toMatch(/nobody@example|Wrong-password/);
  });
});
