import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedWorld, type World } from "#fixtures/world";
import { jsonLog } from "#server/platform/log";
import { enroll, makeKey } from "../test/enroll.ts";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../test/harness.ts";

describe.each(databases)("request bodies on %s", (database) => {
  let server: TestServer;
  let world: World;
  let admin: SignedInUser;
  const lines: string[] = [];

  beforeAll(async () => {
    server = await startTestServer(database, {}, { log: jsonLog("info", (line) => lines.push(line)) });
    world = await seedWorld(server.db, server.services);
    admin = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
  });
  afterAll(() => server?.stop());

  const unstorable = ["\ud800", "\udc00\ud800", "a\u0000b"];

  it("text that no database can hold is refused from people, with and without an idempotency key", async () => {
    for (const text of unstorable) {
      const keyed: Record<string, string> = { "x-idempotency-key": `unstorable-${text.codePointAt(0)}` };
      for (const headers of [{}, keyed]) {
        const bodies: [string, object][] = [
          ["/api-keys", { orgId: world.a.orgId, name: "k", scopes: [text] }],
          [`/orgs/organizations/${world.a.orgId}/contacts`, { name: "x", roles: [text] }],
          ["/orgs/sites", { orgId: world.a.orgId, name: "x", settings: { [text]: 1 } }],
        ];
        for (const [path, body] of bodies) {
          const answer = await server.request("POST", path, { token: admin.token, body, headers });
          expect([answer.status, answer.body.code], `${path} ${JSON.stringify(text)}`).toEqual([
            400,
            "VALIDATION_ERROR",
          ]);
        }
      }
    }
  });

  it("whole surrogate pairs and escaped backslashes are text like any other", async () => {
    for (const name of ["\u{1f600} \u{10ffff}", "C:\\u0000", "\\\\ud800"]) {
      const body = { orgId: world.a.orgId, name };
      const made = await server.request("POST", "/orgs/sites", { token: admin.token, body });
      expect([made.status, made.body.name]).toEqual([201, name]);
    }
  });

  it("a machine's report is kept with a replacement character", async () => {
    const key = await makeKey(server, { orgId: world.a.orgId });
    const { status, body } = await enroll(server, key, { hostname: "pc-\ud800\u0000-1" });
    expect(status).toBe(201);
    const { body: device } = await server.request("GET", `/devices/${body.deviceId}`, { token: admin.token });
    expect(device.hostname).toBe("pc-\ufffd\ufffd-1");
  });

  it("a client that goes away in the middle of its body is no failure of the server", async () => {
    lines.length = 0;
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.write("POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n");
    socket.write("Content-Length: 100\r\nX-Request-Id: half-a-body\r\n\r\n{", () =>
      setTimeout(() => socket.destroy(), 50),
    );
    await expect
      .poll(() => lines.some((line) => line.includes("half-a-body") && line.includes('"request"')))
      .toBe(true);
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});
