import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enroll, makeKey } from "../test/enroll.ts";
import { type SignedInUser, seedPartner, startTestServer, type TestServer } from "../test/harness.ts";

describe("a request that asks for another protocol", () => {
  let server: TestServer;
  let admin: SignedInUser;
  let agent: { agentId: string; agentToken: string };

  beforeAll(async () => {
    server = await startTestServer("sqlite");
    const { partnerId, orgIds } = await seedPartner(server, "acme", ["acme"]);
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    agent = (await enroll(server, await makeKey(server, { orgId: orgIds[0] as string }))).body;
  });
  afterAll(() => server?.stop());

  /** What comes back until the server closes, or what `until` awaits has come. */
  const exchange = (parts: readonly string[], until?: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(server.url);
      const socket = connect(Number(port), hostname, async () => {
        for (const part of parts) {
          socket.write(part);
          await new Promise((next) => setTimeout(next, 20));
        }
      });
      let text = "";
      socket.setEncoding("latin1").on("data", (chunk: string) => {
        text += chunk;
        if (until?.test(text)) socket.destroy();
      });
      socket.on("close", () => resolve(text)).on("error", reject);
    });
  const head = (request: string, headers: readonly string[]) =>
    [`${request} HTTP/1.1`, `Host: ${new URL(server.url).host}`, ...headers, "", ""].join("\r\n");
  const websocket = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
  const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
  const told = (text: string) => {
    const [top = "", body = ""] = text.split("\r\n\r\n");
    return [Number(top.slice(9, 12)), /content-type: application\/json/i.test(top), JSON.parse(body).code];
  };

  it("is told in JSON that there is none, and the connection ends", async () => {
    for (const path of ["/", "/api/v1/nope", "/api/v1/users/me", "/api/v1/agents/x/ws/y", "/api/v1/agents//ws"])
      expect([path, ...told(await exchange([head(`GET ${path}`, [...websocket, key])]))]).toEqual([
        path,
        404,
        true,
        "NOT_FOUND",
      ]);
  });

  it("is told what is wrong with it", async () => {
    const path = `/api/v1/agents/${agent.agentId}/ws`;
    const authorized = `Authorization: Bearer ${agent.agentToken}`;
    for (const request of [
      head(`GET ${path}`, [...websocket, authorized]),
      head(`GET ${path}`, [...websocket, authorized, "Sec-WebSocket-Key: short"]),
      head(`POST ${path}`, [...websocket, authorized, key]),
      head("GET /api/v1/agents/%ff/ws", [...websocket, authorized, key]),
      head(`GET ${path}`, [...websocket, authorized, key, "Host: other.example"]),
      // A proxy in between has not passed the wish on.
      head(`GET ${path}`, [authorized, "Connection: close"]),
    ])
      expect(told(await exchange([request]))).toEqual([400, true, "VALIDATION_ERROR"]);
    const device = server.db.selectFrom("devices").select("connectionId").where("agentId", "=", agent.agentId);
    expect(await device.executeTakeFirst()).toEqual({ connectionId: null });
  });

  it("is served without it where it asks for HTTP/2, with its body, and the connection goes on", async () => {
    const body = JSON.stringify({ email: "nobody@nowhere.example", password: "Wrong-Password-1" });
    const wish = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"];
    const post = head("POST /api/v1/auth/login", [
      ...wish,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ]);
    const get = head("GET /api/v1/users/me", [...wish, `Authorization: Bearer ${admin.token}`]);
    const text = await exchange([post + body.slice(0, 9), body.slice(9), get], new RegExp(admin.email));
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401", "HTTP/1.1 200"]);
    expect(text).toContain("INVALID_CREDENTIALS");
  });
});
