import { createHmac } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type S3Simulator, startS3 } from "#fixtures/simulators/s3";
import { answers, startWebhookReceiver, type WebhookReceiver } from "#fixtures/simulators/webhook-receiver";
import { jsonLog } from "#server/platform/log";
import { databases, seedPartner, startTestServer, type TestServer } from "../test/harness.ts";
import { appendLines } from "./anchor-file.ts";
import { type Anchor, statementHash } from "./anchor-format.ts";
import { placeOf } from "./anchor-target.ts";
import { deliverAnchors } from "./deliver-anchors.ts";
import { anchorGrowth } from "./keeper.ts";

const SECRET = "a secret of the receiver";

describe.each(databases)("anchors are brought outside, on %s", { timeout: 60_000 }, (database) => {
  let s3: S3Simulator;
  let receiver: WebhookReceiver;
  let server: TestServer;
  let logged: string;
  let token: string;
  let orgId: string;

  beforeEach(async () => {
    s3 = await startS3();
    receiver = await startWebhookReceiver();
    logged = "";
    const env = {
      AUDIT_ANCHOR_WEBHOOK_URL: receiver.url("/anchors?of=the-server-in-the-cellar"),
      AUDIT_ANCHOR_WEBHOOK_SECRET: SECRET,
      AUDIT_ANCHOR_S3_BUCKET: "evidence",
      S3_ENDPOINT: s3.url,
      S3_REGION: "eu-central-1",
      S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
      DNS_RESOLVER: receiver.dns.server,
    };
    const log = jsonLog("debug", (line) => {
      logged += line;
    });
    server = await startTestServer(database, env, { log, outbound: receiver.outbound });
    const partner = await seedPartner(server, "acme", ["west"]);
    orgId = partner.orgIds[0] as string;
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId: partner.partnerId }));
  });
  afterEach(async () => {
    await server.stop();
    await Promise.all([s3.stop(), receiver.stop()]);
  });

  /** An anchor of the organization's chain, after one more change. */
  async function anchored(name: string): Promise<void> {
    await server.request("POST", "/orgs/sites", { token, body: { orgId, name } });
    await server.settled();
    await anchorGrowth(server.services);
  }
  const deliver = () => deliverAnchors(server.services);
  const fileText = () => readFileSync(server.services.config.anchorFile, "utf8");
  const lines = () => fileText().split(/(?<=\n)/);
  const keyOf = (line: string) => `evidence/audit-anchors/${placeOf(JSON.parse(line))}`;
  const bodies = () => receiver.received.map(({ body }) => body);
  const waiting = async (target: string) =>
    (await server.services.metrics.undeliveredAnchors.get()).values.find(({ labels }) => labels.target === target)
      ?.value;

  it("as they stand in the file: an object for each, and a signed request for each, once", async () => {
    await anchored("one");
    await anchored("two");
    await deliver();
    expect([...s3.objects]).toEqual(lines().map((line) => [keyOf(line), line]));
    expect(lines().length).toBeGreaterThan(1);
    expect(bodies()).toEqual(lines());
    const [first] = receiver.received;
    const stamp = first?.headers["x-webhook-timestamp"];
    const mac = createHmac("sha256", SECRET).update(`${stamp}.${first?.body}`).digest("hex");
    expect(first?.headers["x-webhook-signature"]).toBe(`sha256=${mac}`);
    expect(first?.headers["x-webhook-id"]).toBe(statementHash(JSON.parse(first?.body as string)));
    expect(first?.headers["x-webhook-event"]).toBe("audit.anchor");
    await deliver();
    expect([s3.objects.size, receiver.received.length]).toEqual([lines().length, lines().length]);
    expect([await waiting("s3"), await waiting("webhook")]).toEqual([0, 0]);
  });

  it("later and in order where a place was down or answered wrongly, without the other waiting for it, and somebody is told", async () => {
    s3.instead = (response) => void response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>");
    for (const name of ["one", "two", "three"]) {
      await anchored(name);
      await deliver();
    }
    expect([s3.objects.size, await waiting("s3"), await waiting("webhook")]).toEqual([0, lines().length, 0]);
    expect(bodies()).toEqual(lines());
    const told = logged.split("\n").filter((line) => line.includes("audit.anchor_delivery_failed"));
    expect(told, "once an hour").toHaveLength(1);
    expect(told[0]).toContain("it answered 503 SlowDown");
    s3.instead = undefined;
    receiver.answer = answers.status(500);
    await anchored("four");
    await deliver();
    expect([...s3.objects.values()]).toEqual(lines());
    expect(await waiting("webhook")).toBe(1);
    receiver.reset();
    await deliver();
    expect(bodies()).toEqual(lines().slice(-1));
  });

  it("after a start that has forgotten what it had delivered, without a second object", async () => {
    await anchored("one");
    await deliver();
    rmSync(join(server.services.config.dataDir, "anchor-deliveries.json"));
    await anchored("two");
    await deliver();
    expect([...s3.objects.values()]).toEqual(lines());
    expect(s3.requests.some(({ method, status }) => method === "PUT" && status === 412)).toBe(true);
  });

  it("and never over what stands in their place, which is told as a fault", async () => {
    await anchored("one");
    const [line] = lines() as [string];
    s3.objects.set(keyOf(line), "something else\n");
    await deliver();
    expect(s3.objects.get(keyOf(line))).toBe("something else\n");
    expect([...s3.objects.values()].slice(1)).toEqual(lines().slice(1));
    expect(logged).toMatch(/audit\.anchor_differs.*"priority":"p1"|"priority":"p1".*audit\.anchor_differs/);
    expect(await waiting("s3")).toBe(0);
  });

  it("except a line that is not whole yet: it follows once it is", async () => {
    await anchored("one");
    const whole = fileText();
    const cut = whole.slice(0, -30);
    writeFileSync(server.services.config.anchorFile, cut);
    await deliver();
    expect([...s3.objects.values()]).toEqual(lines().slice(0, -1));
    const [last] = whole.trimEnd().split("\n").slice(-1) as [string];
    await appendLines(server.services.config.anchorFile, [JSON.parse(last) as Anchor]);
    await deliver();
    expect([...s3.objects.values()].at(-1)).toBe(`${last}\n`);
    expect(
      fileText()
        .split("\n")
        .filter((line) => line === last),
    ).toHaveLength(1);
  });

  it("behind a line that a disk has spoiled: none is passed over", async () => {
    const spoiled = Buffer.concat([Buffer.alloc(300, 0xff), Buffer.from("\n")]);
    writeFileSync(server.services.config.anchorFile, spoiled);
    await deliver();
    for (const name of ["one", "two", "three"]) {
      await anchored(name);
      await deliver();
    }
    const sound = lines().slice(1);
    expect(sound.length).toBeGreaterThan(2);
    expect(bodies()).toEqual(sound);
    expect([...s3.objects.values()]).toEqual(sound);
  });

  it("with a wrong key nowhere, and no secret is in the log", async () => {
    (server.services.config.anchorS3 as { secretAccessKey: string }).secretAccessKey = "another/secret+key";
    receiver.answer = answers.redirect("https://elsewhere.example/");
    await anchored("one");
    await deliver();
    expect(s3.objects.size).toBe(0);
    expect(logged).toContain("it answered 403 SignatureDoesNotMatch");
    expect(logged).toContain("it answered 302");
    for (const secret of [SECRET, "another/secret+key", s3.credentials.accessKeyId, "the-server-in-the-cellar"])
      expect(logged).not.toContain(secret);
  });
});
