import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedWorld, type World } from "#fixtures/world";
import { type SignedInUser, startTestServer, type TestServer } from "../harness.ts";

describe("hostile clients do not affect other clients", () => {
  let server: TestServer;
  let world: World;
  let user: SignedInUser;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    server = await startTestServer("sqlite");
    world = await seedWorld(server.db, server.services);
    user = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await server?.stop();
  });

  const open = () =>
    new Promise<Socket>((resolve, reject) => {
      const { hostname, port } = new URL(server.url);
      const socket = connect(Number(port), hostname, () => resolve(socket));
      socket.on("error", reject);
      sockets.push(socket);
    });
  /** Everything the server sends until it closes the connection or `ms` have passed. */
  const heard = (socket: Socket, ms: number) =>
    new Promise<string>((resolve) => {
      let text = "";
      socket.removeAllListeners("error").on("error", () => resolve(text));
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1");
      });
      socket.on("close", () => resolve(text));
      setTimeout(() => resolve(text), ms);
    });
  const statusOf = (text: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
  const head = (lines: readonly string[]) =>
    `${["POST /api/v1/orgs/sites HTTP/1.1", `Host: ${new URL(server.url).host}`, `Authorization: Bearer ${user.token}`, ...lines].join("\r\n")}\r\n\r\n`;
  const friendly = async () => {
    const started = performance.now();
    const answer = await server.request("GET", `/orgs/sites/${world.a.siteId}`, { token: user.token });
    expect(answer.status).toBe(200);
    return performance.now() - started;
  };

  it("answers others while 200 connections send one byte at a time", async () => {
    const slow = await Promise.all(Array.from({ length: 200 }, open));
    for (const socket of slow)
      socket.on("error", () => undefined).write("POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nX-");
    const drip = setInterval(() => {
      for (const socket of slow) if (socket.writable) socket.write("a");
    }, 200);
    for (let round = 0; round < 5; round += 1) expect(await friendly()).toBeLessThan(5_000);
    clearInterval(drip);
    for (const socket of slow) socket.destroy();
  });

  it("refuses a body of 100 MB by its Content-Length, and one without a length as soon as it exceeds the limit", async () => {
    const announced = await open();
    announced.write(head(["Content-Type: application/json", `Content-Length: ${100 * 1024 * 1024}`]));
    const answer = await heard(announced, 5_000);
    expect(statusOf(answer)).toBe(413);
    expect(answer).toContain("PAYLOAD_TOO_LARGE");

    const growing = await open();
    growing.write(head(["Content-Type: application/json", "Transfer-Encoding: chunked"]));
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const listening = heard(growing, 10_000);
    for (let sent = 0; sent < 40 && growing.writable; sent += 1) {
      growing.write(chunk);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(statusOf(await listening)).toBe(413);
    await friendly();
  });

  it("refuses 10,000 headers and headers of a megabyte", async () => {
    for (const lines of [
      Array.from({ length: 10_000 }, (_, n) => `X-H${n}: 1`),
      [`X-Big: ${"x".repeat(1024 * 1024)}`],
    ]) {
      const socket = await open();
      const listening = heard(socket, 5_000);
      socket.write(head(lines));
      expect(statusOf(await listening)).toBe(431);
    }
    await friendly();
  });

  it("survives input that is not HTTP, and requests cut in the middle", async () => {
    for (const text of [
      "\x16\x03\x01\x02\x00",
      "GET\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "POST /api/v1/orgs/sites HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
    ]) {
      const socket = await open();
      const listening = heard(socket, 3_000);
      socket.write(text, "latin1");
      expect(statusOf(await listening)).toBe(400);
    }
    for (const cut of [10, 60, 200]) {
      const socket = await open();
      socket.write(head(["Content-Type: application/json", "Content-Length: 50"]).slice(0, cut));
      socket.destroy();
    }
    const half = await open();
    half.write(`${head(["Content-Type: application/json", "Content-Length: 50"])}{"orgId":`);
    half.destroy();
    await friendly();
  });

  it("answers JSON that is deep, wide or not UTF-8 with 400, quickly", async () => {
    const bodies = [
      `{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`,
      `{"name":"x","settings":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}`,
      `{${Array.from({ length: 60_000 }, (_, n) => `"k${n}":1`).join(",")}}`,
      Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]),
    ];
    for (const body of bodies) {
      const started = performance.now();
      const response = await fetch(`${server.url}/api/v1/orgs/sites`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${user.token}` },
        body,
      });
      expect(response.status).toBe(400);
      expect(performance.now() - started).toBeLessThan(5_000);
    }
    await friendly();
  });

  it("answers every unreadable path and unknown route as JSON", async () => {
    for (const [path, status] of [
      ["/api/v1/nope", 404],
      ["/nope", 404],
      ["/api/v1/orgs/sites/%zz", 400],
      ["/api/v1/orgs/sites/%00", 400],
      ["/api/v1/orgs/partners/not-a-uuid", 400],
    ] as const) {
      const response = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${user.token}` } });
      expect([path, response.headers.get("content-type")]).toEqual([path, "application/json; charset=utf-8"]);
      expect([403, status]).toContain(response.status);
    }
    const wrongMethod = await server.request("PUT", "/orgs/sites", { token: user.token, body: {} });
    expect([wrongMethod.status, wrongMethod.headers.get("allow")]).toEqual([405, "GET, POST"]);
  });
});
