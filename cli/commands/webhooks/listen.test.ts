import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { refusal } from "#sdk/stub-server";
import { verifyWebhook } from "#sdk/verify-webhook";
import { ids, stubApi } from "../../test-api.ts";
import { NOW, testCommand } from "../../test-shell.ts";

const command = testCommand();
const SECRET = "whsec_of-the-developer";
const TOKEN = "token-of-the-developer";
const event = (id: string) => ({
  id,
  type: "device.online",
  timestamp: "2026-03-02T09:00:00.000Z",
  orgId: ids.contoso,
  siteId: null,
  data: { deviceId: "d", hostname: "Café \u2028" },
});

let dir: string;
let receiver: Server;
let forward: string;
let received: { headers: IncomingHttpHeaders; body: string }[];
let answer: (response: ServerResponse, id: string) => void;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "rmm-listen-"));
  writeFileSync(join(dir, "secret"), `${SECRET}\n`);
  receiver = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    received.push({ headers: request.headers, body });
    answer(response, JSON.parse(body).id);
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  forward = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
});
beforeEach(() => {
  received = [];
  answer = (response) => response.writeHead(204).end();
});
afterAll(() => {
  receiver.close().closeAllConnections();
  rmSync(dir, { recursive: true, force: true });
  command.close();
});

type Step = { data?: object[]; missed?: boolean } | "away";

/** A server that begins, gives these answers one after the other, then has nothing; ends the run at `until`. */
async function listened(steps: readonly Step[], argv: readonly string[], until: (lines: string[]) => boolean) {
  const stop = new AbortController();
  const asked: URLSearchParams[] = [];
  const stub = await stubApi({
    "GET /webhooks/events": async (_, query) => {
      const step = steps[asked.length - 1];
      asked.push(query);
      if (step === "away") return refusal(503, "SERVICE_UNAVAILABLE");
      if (step === undefined && asked.length > 1) await new Promise((resolve) => setTimeout(resolve, 20));
      return { body: { data: [], missed: false, cursor: `c${asked.length}`, ...(step as object) } };
    },
  });
  const lines: string[] = [];
  const { Writable } = await import("node:stream");
  const stdout = new Writable({
    write(chunk: Buffer, _, done) {
      lines.push(...chunk.toString().trimEnd().split("\n"));
      if (until(lines)) stop.abort();
      done();
    },
  });
  const ran = await command.run(["webhooks", "listen", "--org", "contoso-dental", "--forward", forward, ...argv], {
    env: { RMM_SERVER: stub.url, RMM_TOKEN: TOKEN },
    signal: stop.signal,
    stdout,
  });
  await stub.close();
  return { ...ran, lines, asked };
}

describe("rmm webhooks listen", () => {
  it("forwards what happens with headers and signature of a delivery, prints each result, ends with Ctrl-C", async () => {
    const argv = ["--events", "device.*", "--secret-file", join(dir, "secret"), "--ndjson", "--debug"];
    const { code, lines, stderr, asked } = await listened([{ data: [event("e1")] }], argv, () => true);
    expect(code).toBe(130);
    const [{ headers, body } = {} as never] = received;
    expect(await verifyWebhook(body, headers, SECRET, { now: () => NOW })).toEqual(event("e1"));
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": expect.stringMatching(/^rmm-webhooks\//),
      "x-webhook-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
      "x-webhook-event": "device.online",
      "x-webhook-event-id": "e1",
      "x-webhook-attempt": "1",
    });
    expect(JSON.parse(lines[0] as string)).toMatchObject({
      event: "device.online",
      eventId: "e1",
      deliveryId: headers["x-webhook-id"],
      status: "delivered",
      responseStatus: 204,
      attempt: 1,
    });
    expect(asked[0]?.get("orgId")).toBe(ids.contoso);
    expect([asked[0]?.get("events"), asked[1]?.get("cursor")]).toEqual(["device.*", "c1"]);
    expect(stderr).toContain(`Ready: device.* of contoso-dental goes to ${forward} until Ctrl-C`);
    expect(stderr).toContain("1 delivered, 0 failed, 0 not delivered");
    expect(stderr + lines.join()).not.toMatch(/of-the-developer/);
  });

  it("makes a secret and shows it where none is given", async () => {
    const { stderr, lines } = await listened([{ data: [event("e1")] }], [], () => true);
    const [secret = ""] = /whsec_[\w-]{43}/.exec(stderr) ?? [];
    const [{ headers, body } = {} as never] = received;
    expect(await verifyWebhook(body, headers, secret, { now: () => NOW })).toMatchObject({ id: "e1" });
    expect(lines[0]).toMatch(/\tdevice\.online\tdelivered\t204\t\d+\t1\t\te1$/);
  });

  it("tries again what a receiver refuses, under one id, while the others arrive; 410 is final", async () => {
    answer = (response, id) => {
      const refused =
        id === "gone" ? 410 : received.filter(({ body }) => body.includes('"again"')).length < 2 ? 500 : 0;
      response.writeHead(id === "well" ? 204 : refused || 204).end();
    };
    const data = [event("again"), event("gone"), event("well")];
    const { lines } = await listened([{ data }], ["--ndjson"], (all) => all.length === 4);
    const told = lines.map((line) => JSON.parse(line));
    expect(
      told
        .slice(0, 3)
        .map(({ eventId, status }) => `${eventId} ${status}`)
        .toSorted(),
    ).toEqual(["again retrying", "gone failed", "well delivered"]);
    expect(told[3]).toMatchObject({ eventId: "again", status: "delivered", attempt: 2 });
    expect(new Set(told.filter(({ eventId }) => eventId === "again").map(({ deliveryId }) => deliveryId)).size).toBe(1);
  });

  it("waits for a server that is away and goes on where it was; says what was missed", async () => {
    const steps: Step[] = ["away", { data: [event("e1")], missed: true }];
    const { code, stderr, asked, lines } = await listened(steps, ["--ndjson"], () => true);
    expect([code, lines.length]).toEqual([130, 1]);
    expect(asked.slice(1, 3).map((query) => query.get("cursor"))).toEqual(["c1", "c1"]);
    expect(stderr).toMatch(/Tries again until it is back.*Connected again.*no longer kept/s);
  });

  it("reports a receiver that is not there", async () => {
    const nowhere = ["--forward", "http://127.0.0.1:1/", "--ndjson"];
    const { lines } = await listened([{ data: [event("e1")] }], nowhere, () => true);
    expect(JSON.parse(lines[0] as string)).toMatchObject({
      status: "retrying",
      responseStatus: null,
      errorMessage: "Nothing listens there (ECONNREFUSED)",
    });
  });

  it.each([
    ["nowhere", [], /Missing: --forward/],
    ["no address", ["--forward", "8080"], /no address such as/],
    ["plain http elsewhere", ["--forward", "http://192.0.2.1/hook"], /--insecure-http/],
    ["a password in its arguments", ["--forward", "https://bob:pw@hooks.example/"], /leave out user and password/],
    ["an unknown field", ["--forward", "http://127.0.0.1:1/", "--json=moon"], /there is no such field/],
  ])("refuses to forward to %s, and asks nothing", async (_, argv, message) => {
    const ran = await command.run(["webhooks", "listen", ...argv], {
      env: { RMM_SERVER: "http://127.0.0.1:1", RMM_TOKEN: TOKEN },
    });
    expect([ran.code, ran.stdout]).toEqual([2, ""]);
    expect(ran.stderr).toMatch(message);
  });

  it("ends where the server refuses, and where it was never there", async () => {
    const stub = await stubApi({ "GET /webhooks/events": () => refusal(403, "SITE_ACCESS_DENIED") });
    const at = async (server: string) =>
      (
        await command.run(["webhooks", "listen", "--forward", forward], {
          env: { RMM_SERVER: server, RMM_TOKEN: TOKEN },
        })
      ).code;
    expect([await at(stub.url), await at("http://127.0.0.1:1")]).toEqual([5, 7]);
    await stub.close();
  });
});
