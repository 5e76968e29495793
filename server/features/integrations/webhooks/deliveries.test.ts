import { createHmac } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answers, type WebhookReceiver } from "#fixtures/simulators/webhook-receiver";
import { MINUTE, SECOND } from "#server/platform/clock";
import { databases, type TestServer } from "../../../test/harness.ts";
import { startWebhookTest, type WebhookTest } from "../../../test/webhooks.ts";
import { consumers } from "./consumers.ts";
import { queueDeliveries } from "./queue.ts";
import { Deliverer } from "./sending/deliverer.ts";
import { newQueue, nextOf, readQueue } from "./sending/line.ts";

describe.each(databases)("deliveries to webhooks on %s", (database) => {
  let test: WebhookTest;
  let server: TestServer;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    test = await startWebhookTest(database);
    ({ server, receiver } = test);
  });
  beforeEach(() => receiver.reset());
  afterEach(async () => {
    expect(receiver.insideReached()).toBe(0);
    await server.db.deleteFrom("webhooks").execute();
  });
  afterAll(() => test?.stop());

  /** Tells of a new site, as the runner of events would. */
  const tell = (times = 1, eventId?: string) =>
    server.db.transaction().execute(async (tx) => {
      const events = Array.from({ length: times }, (_, index) => ({
        id: eventId ?? server.services.random.uuid(),
        kind: "site.created" as const,
        orgId: test.orgId,
        partnerId: null,
        siteId: null,
        subjectType: "site",
        subjectId: server.services.random.uuid(),
        data: { siteId: server.services.random.uuid(), siteName: "Café \u2028 HQ" },
        occurredAt: server.clock.now(),
        position: index + 1,
      }));
      for (const consumer of consumers) await consumer.handle(server.services, tx, events);
      return events.map(({ id }) => id);
    });
  const stored = (id: string) =>
    server.db.selectFrom("webhooks").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

  it("are signed over their timestamp and the bytes that are sent, and carry the webhook's headers", async () => {
    const headers = [{ key: "X-Tenant", value: "contoso dental" }];
    const url = receiver.url("/in?token=t0ps3cret").replace("https://", "https://bob:pw@");
    const { id, secret } = await test.create({ url, headers });
    expect(secret).toMatch(/^whsec_[\w-]{43}$/);
    const [eventId] = await tell();
    await server.deliver();
    expect(receiver.received).toHaveLength(1);
    const [{ to, body, headers: sent } = {} as never] = receiver.received;
    expect(to).toBe("hooks.example/in?token=t0ps3cret");
    const timestamp = sent["x-webhook-timestamp"] as string;
    expect(Number(timestamp)).toBe(Math.floor(server.clock.nowMs() / 1_000));
    const mac = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
    const [delivery] = await test.deliveries(id);
    expect(sent).toMatchObject({
      "content-type": "application/json",
      "user-agent": expect.stringMatching(/^rmm-webhooks\//),
      "x-tenant": "contoso dental",
      authorization: `Basic ${Buffer.from("bob:pw").toString("base64")}`,
      "x-webhook-id": delivery.id,
      "x-webhook-event": "site.created",
      "x-webhook-event-id": eventId,
      "x-webhook-attempt": "1",
      "x-webhook-signature": `sha256=${mac}`,
    });
    expect(JSON.parse(body)).toEqual(delivery.payload);
    expect(delivery).toMatchObject({
      event: "site.created",
      eventId,
      status: "delivered",
      attempts: 1,
      nextAttemptAt: null,
      responseStatus: 204,
      errorMessage: null,
      deliveredAt: server.clock.now(),
      payload: {
        id: eventId,
        type: "site.created",
        orgId: test.orgId,
        siteId: null,
        data: { siteName: "Café \u2028 HQ" },
      },
    });
    expect(await stored(id)).toMatchObject({ successCount: 1, failureCount: 0, lastSuccessAt: server.clock.now() });
  });

  it("are tried again after growing pauses with the same ids, and given up when the retries are used up", async () => {
    receiver.answer = answers.status(500, "broken");
    const { id } = await test.create({ retryPolicy: { maxRetries: 2, initialDelayMs: 10_000 } });
    await tell();
    const dueIn = async () => Date.parse((await test.deliveries(id))[0].nextAttemptAt) - server.clock.nowMs();
    await server.deliver();
    expect((await test.deliveries(id))[0]).toMatchObject({ status: "retrying", attempts: 1, responseBody: "broken" });
    expect(Math.abs((await dueIn()) - 10_000)).toBeLessThanOrEqual(1_000);
    server.clock.advance(8_000);
    await server.deliver();
    expect(receiver.received, "not before its time").toHaveLength(1);
    server.clock.advance(3_000);
    await server.deliver();
    expect(Math.abs((await dueIn()) - 20_000)).toBeLessThanOrEqual(2_000);
    server.clock.advance(MINUTE);
    await server.deliver();
    expect((await test.deliveries(id))[0]).toMatchObject({ status: "failed", attempts: 3, nextAttemptAt: null });
    server.clock.advance(10 * MINUTE);
    await server.deliver();
    const of = (name: string) => receiver.received.map(({ headers }) => headers[name]);
    expect(of("x-webhook-attempt")).toEqual(["1", "2", "3"]);
    expect([new Set(of("x-webhook-id")).size, new Set(of("x-webhook-event-id")).size]).toEqual([1, 1]);
    expect(new Set(of("x-webhook-signature")).size, "each signed with its own time").toBe(3);
    expect(await stored(id)).toMatchObject({ status: "active", failureCount: 1, consecutiveFailures: 1 });
  });

  it("arrive once the receiver is well again, and end the row of failures", async () => {
    receiver.answer = answers.inTurn(500, 200);
    const { id } = await test.create();
    await tell();
    await server.deliver();
    server.clock.advance(2 * SECOND);
    await server.deliver();
    expect((await test.deliveries(id))[0]).toMatchObject({ status: "delivered", attempts: 2, responseStatus: 200 });
  });

  it.each([
    ["redirects", "The receiver answered 302", () => answers.redirect(receiver.url("/elsewhere"))],
    ["redirects inside", "The receiver answered 307", () => (r: never) => inside(r)],
    ["answers 404", "The receiver answered 404", () => answers.status(404)],
  ] as const)("fail where the receiver %s, and are not followed", async (_, errorMessage, answer) => {
    receiver.answer = answer() as never;
    const { id } = await test.create({ retryPolicy: { maxRetries: 0 } });
    await tell();
    await server.deliver();
    expect((await test.deliveries(id))[0]).toMatchObject({ status: "failed", errorMessage });
    expect(receiver.received).toHaveLength(1);
  });
  const inside = (response: import("node:http").ServerResponse) =>
    response.writeHead(307, { location: `https://127.0.0.2:${receiver.port}/` }).end();

  it("count as arrived by their status, however long the body; no secret that it repeats is kept", async () => {
    receiver.answer = answers.endless;
    const headers = [{ key: "X-Api-Key", value: "key-of-the-receiver" }];
    const { id, secret } = await test.create({ url: receiver.url("/in?token=t0ps3cret"), headers });
    await tell();
    await server.deliver();
    const [endless] = await test.deliveries(id);
    expect([endless.status, endless.responseBody]).toEqual(["delivered", "x".repeat(1_000)]);
    receiver.answer = (response, received, request) =>
      response.end(`${secret} ${request.url} ${received.headers["x-api-key"]} \u0000\u200b end`);
    await tell();
    await server.deliver();
    expect((await test.deliveries(id))[0].responseBody).toBe("******** /in?token=******** ******** \ufffd\ufffd end");
  });

  it("fail at a certificate of somebody else, and at a name that is not found", async () => {
    receiver.dns.setAddresses("stranger.example", ["127.0.0.1"]);
    const { id } = await test.create({ url: receiver.url("/", "stranger.example") });
    await tell();
    await server.deliver();
    expect((await test.deliveries(id))[0]).toMatchObject({
      status: "retrying",
      errorMessage: "the host cannot be reached",
      responseStatus: null,
    });
    receiver.dns.setAddresses("stranger.example", []);
    server.clock.advance(MINUTE);
    await server.deliver();
    expect((await test.deliveries(id))[0]).toMatchObject({
      status: "retrying",
      attempts: 2,
      errorMessage: "the name of the host cannot be resolved",
    });
    expect(receiver.received).toEqual([]);
  });

  it("are given up at once where the name has moved inside between two attempts (cases C21)", async () => {
    receiver.answer = answers.status(500);
    const { id } = await test.create({ url: receiver.url("/", "moving.example") });
    await tell();
    await server.deliver();
    receiver.dns.setAddresses("moving.example", ["127.0.0.1", "127.0.0.2"]);
    server.clock.advance(MINUTE);
    await server.deliver();
    expect((await test.deliveries(id))[0]).toMatchObject({
      status: "failed",
      attempts: 2,
      errorMessage: "the address is not on the public internet",
      responseStatus: null,
    });
    expect(receiver.received).toHaveLength(1);
  });

  it("stop where the receiver is gone (410): the webhook is paused and what waits is given up", async () => {
    receiver.answer = answers.status(410);
    const { id } = await test.create();
    await tell();
    await tell();
    // One has failed before, and waits.
    await server.db
      .updateTable("webhookDeliveries")
      .set({ status: "retrying", nextAttemptAt: new Date(server.clock.nowMs() + MINUTE).toISOString() })
      .where("id", "=", (await test.deliveries(id))[0].id)
      .execute();
    await server.deliver();
    expect(receiver.received).toHaveLength(1);
    const all = await test.deliveries(id);
    expect(all.map(({ status, errorMessage }) => [status, errorMessage]).sort()).toEqual([
      ["failed", "The receiver answered 410"],
      ["failed", "Webhook not active"],
    ]);
    expect((await stored(id)).status).toBe("paused");
    await tell();
    expect(await test.deliveries(id), "events meanwhile leave none").toHaveLength(2);
  });

  it("that fail twenty times in a row switch the webhook off, until somebody arms it", async () => {
    receiver.answer = answers.status(500);
    const { id } = await test.create({ retryPolicy: { maxRetries: 0 } });
    await tell(19);
    await server.deliver();
    expect(await stored(id)).toMatchObject({ status: "active", consecutiveFailures: 19 });
    await tell(6);
    await server.deliver();
    expect(await stored(id)).toMatchObject({ status: "failed", failureCount: expect.any(Number) });
    const told = await server.request("GET", "/notifications", { token: test.admin.token });
    expect(told.body.data).toMatchObject([
      { metadata: { webhookId: id, reason: "failed deliveries" }, orgId: test.orgId },
    ]);
    expect((await test.deliveries(id)).every(({ status }) => status === "failed")).toBe(true);
    receiver.answer = answers.status(204);
    receiver.received.length = 0;
    expect((await test.send("PATCH", `/${id}`, { status: "active" })).body).toMatchObject({
      status: "active",
      consecutiveFailures: 0,
    });
    await tell();
    await server.deliver();
    expect(receiver.received).toHaveLength(1);
  });

  it("that wait beyond ten thousand switch the webhook off, and its creator is told", async () => {
    const webhook = await test.create();
    const { random, clock } = server.services;
    const waiting = (count: number) =>
      server.db.transaction().execute((tx) => {
        const rows = Array.from({ length: count }, () => {
          const ids = { id: random.uuid(), eventId: random.uuid() };
          return { ...ids, webhook, event: "site.created", sentBody: "{}", origin: "event" as const };
        });
        return queueDeliveries(tx, rows, clock.now());
      });
    await waiting(9_999);
    await tell();
    expect((await stored(webhook.id)).status).toBe("active");
    await tell();
    expect((await stored(webhook.id)).status).toBe("failed");
    const left = server.db.selectFrom("webhookDeliveries").select("id").where("status", "<>", "failed");
    expect(await left.execute()).toEqual([]);
    const told = await server.request("GET", "/notifications", { token: test.admin.token });
    expect(told.body.data[0].metadata).toEqual({ webhookId: webhook.id, reason: "waiting deliveries" });
  });

  it("are one for each event and webhook, also where a batch of events comes twice", async () => {
    const one = await test.create();
    const other = await test.create({ events: ["*"] });
    await test.create({ events: ["device.*"] });
    const paused = await test.create();
    await test.send("PATCH", `/${paused.id}`, { status: "paused" });
    const [eventId] = await tell();
    await tell(1, eventId);
    await server.deliver();
    expect(receiver.received.map(({ headers }) => headers["x-webhook-event-id"])).toEqual([eventId, eventId]);
    for (const { id } of [one, other]) expect(await test.deliveries(id)).toHaveLength(1);
  });

  it("are given up when the webhook is paused or its organization closes, and a person sends one again", async () => {
    const { id } = await test.create();
    await tell();
    expect((await test.send("PATCH", `/${id}`, { status: "paused" })).status).toBe(200);
    await server.deliver();
    const [failed] = await test.deliveries(id);
    expect(failed).toMatchObject({ status: "failed", errorMessage: "Webhook not active", attempts: 0 });
    const retry = () => test.send("POST", `/${id}/retry/${failed.id}`);
    expect([(await retry()).status, (await retry()).body.details]).toEqual([409, { status: "paused" }]);
    await test.send("PATCH", `/${id}`, { status: "active" });
    const again = await retry();
    expect([again.status, again.body.delivery.status]).toEqual([202, "pending"]);
    expect(again.body.delivery).toMatchObject({ eventId: failed.eventId, payload: failed.payload });
    expect(again.body.delivery.id).not.toBe(failed.id);
    await server.deliver();
    expect(receiver.received.map(({ headers }) => headers["x-webhook-event-id"])).toEqual([failed.eventId]);
    const delivered = await test.send("POST", `/${id}/retry/${again.body.delivery.id}`);
    expect([delivered.status, delivered.body.code]).toEqual([409, "INVALID_STATE"]);
    await tell();
    const org = `/orgs/organizations/${test.orgId}`;
    const { token } = test.admin;
    await server.request("PATCH", org, { token, body: { status: "churned" } });
    expect([(await stored(id)).status, (await test.deliveries(id))[0].status]).toEqual(["paused", "failed"]);
    await server.request("PATCH", org, { token, body: { status: "active" } });
    expect((await stored(id)).status, "nothing arms it by itself").toBe("paused");
  });

  it("that are tests say so whatever they sample, go out while paused, and are tried once", async () => {
    const { id } = await test.create();
    await test.send("PATCH", `/${id}`, { status: "paused" });
    const sample = { event: "organization.deleted", payload: { amount: 1 } };
    const { status, body } = await test.send("POST", `/${id}/test`, sample);
    expect([status, body.delivery.event, body.delivery.status]).toEqual([202, "webhook.test", "pending"]);
    receiver.answer = answers.inTurn(204, 500);
    await server.deliver();
    const [{ headers, body: sent } = {} as never] = receiver.received;
    expect(headers["x-webhook-event"]).toBe("webhook.test");
    expect(JSON.parse(sent)).toMatchObject({
      type: "webhook.test",
      data: { sampleOf: "organization.deleted", payload: { amount: 1 } },
    });
    await test.send("POST", `/${id}/test`);
    await server.deliver();
    expect((await test.deliveries(id)).map((one) => [one.status, one.attempts]).sort()).toEqual([
      ["delivered", 1],
      ["failed", 1],
    ]);
    expect(await stored(id)).toMatchObject({ successCount: 0, failureCount: 0, consecutiveFailures: 0 });
    const { deliveryStats } = (await test.send("GET", `/${id}`)).body;
    expect(deliveryStats, "a test counts nowhere").toMatchObject({
      total: 0,
      delivered: 0,
      failed: 0,
      lastDeliveredAt: null,
    });
    const unknown = await test.send("POST", `/${id}/test`, { event: "moon.landing" });
    expect([unknown.status, unknown.body.code]).toEqual([400, "UNKNOWN_EVENT"]);
  });

  it("that are tests are ten a minute, those that are sent again included", async () => {
    const { id } = await test.create();
    receiver.answer = answers.status(500);
    const { body } = await test.send("POST", `/${id}/test`);
    await server.deliver();
    const again = [];
    for (let sent = 1; sent <= 10; sent += 1)
      again.push((await test.send("POST", `/${id}/retry/${body.delivery.id}`)).status);
    expect(again).toEqual([...Array(9).fill(202), 429]);
    expect(await test.deliveries(id)).toHaveLength(10);
  });

  it("of two who send at one moment, each is made by one; whoever died is followed after the lease", async () => {
    receiver.answer = answers.late(5);
    await test.create();
    await tell(40);
    await Promise.all([server.deliver(), server.deliver(), server.deliver()]);
    const ids = receiver.received.map(({ headers }) => headers["x-webhook-id"]);
    expect([ids.length, new Set(ids).size]).toEqual([40, 40]);
    await tell();
    const queues = server.db.updateTable("webhookQueues");
    const dead = {
      holder: server.services.random.uuid(),
      heldUntil: new Date(server.clock.nowMs() + 45_000).toISOString(),
    };
    await queues.set(dead).where("orgId", "=", test.orgId).execute();
    await server.deliver();
    expect(receiver.received).toHaveLength(40);
    server.clock.advance(45_000);
    await server.deliver();
    expect(receiver.received).toHaveLength(41);
  });

  it("that are written down while their line is read again are neither sent again nor forgotten", async () => {
    receiver.answer = answers.status(500);
    const { id } = await test.create();
    await tell();
    const [delivery] = await server.db.selectFrom("webhookDeliveries").selectAll().execute();
    const queue = newQueue(test, server.clock.nowMs() + MINUTE);
    queue.taken.add(delivery?.id as string);
    await readQueue(server.services, queue, 1);
    const line = queue.lines.find(({ webhook }) => webhook.id === id)!;
    expect([line.due, nextOf(queue)]).toEqual([[], Number.POSITIVE_INFINITY]);
    line.nextMs = 0;
    const reading = readQueue(server.services, queue, 1);
    queue.taken.delete(delivery?.id as string);
    await reading;
    expect(line.due).toEqual([]);
    expect(nextOf(queue), "it is looked at again").toBe(0);
  });

  it("under way when a server stops are stopped, count as not made, and go out at once from the next one", async () => {
    receiver.answer = answers.silence;
    const { id } = await test.create();
    await tell();
    const deliverer = new Deliverer(server.services);
    await deliverer.turn();
    await expect.poll(() => receiver.received.length, { interval: 5 }).toBe(1);
    await deliverer.close(0);
    expect((await test.deliveries(id))[0]).toMatchObject({ status: "pending", attempts: 0 });
    receiver.answer = answers.status(204);
    await server.deliver();
    expect(receiver.received.map(({ headers }) => headers["x-webhook-attempt"])).toEqual(["1", "1"]);
  });
});
