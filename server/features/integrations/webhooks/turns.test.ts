import { once } from "node:events";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { answers } from "#fixtures/simulators/webhook-receiver";
import { guardedPost } from "#server/platform/guarded-post";
import { type SignedInUser, seedPartner } from "../../../test/harness.ts";
import { startWebhookTest, type WebhookTest } from "../../../test/webhooks.ts";
import type { WebhookRow } from "./queries.ts";
import { queueDeliveries } from "./queue.ts";
import { Deliverer } from "./sending/deliverer.ts";
import { ReceiverHealth } from "./sending/receiver-health.ts";

let test: WebhookTest;
let others: string[];
let otherAdmin: SignedInUser;
let sending: Deliverer | undefined;
beforeAll(async () => {
  test = await startWebhookTest("sqlite");
  const seeded = await seedPartner(test.server, "other", ["far", "farther", "farthest"]);
  others = seeded.orgIds;
  otherAdmin = await test.server.signIn({ role: "Partner Admin", partnerId: seeded.partnerId });
});
beforeEach(() => test.receiver.reset());
afterEach(async () => {
  await sending?.close(0);
  await test.server.db.deleteFrom("webhooks").execute();
});
afterAll(() => test?.stop());

/** A webhook of any organization, for which deliveries wait. */
async function waiting(count: number, { orgId = test.orgId, url = test.receiver.url(`/${orgId}`) } = {}) {
  const { db, services } = test.server;
  const { token } = orgId === test.orgId ? test.admin : otherAdmin;
  const body = { orgId, name: "Pager", url, events: ["site.*"] };
  const { status, body: webhook } = await test.server.request("POST", "/webhooks", { token, body });
  expect(status, JSON.stringify(webhook)).toBe(201);
  const one = () => ({ event: "site.created", sentBody: "{}", origin: "event" as const });
  const ids = () => ({
    id: services.random.uuid(),
    eventId: services.random.uuid(),
    webhook: { id: webhook.id, orgId },
  });
  const rows = Array.from({ length: count }, () => ({ ...ids(), ...one() }));
  await db.transaction().execute((tx) => queueDeliveries(tx, rows, services.clock.now()));
  return webhook.id as string;
}

/** Sends beside the test, as a server does, until it holds. */
async function until(holds: () => boolean, by = new Deliverer(test.server.services)): Promise<void> {
  sending = by;
  for (const end = Date.now() + 5_000; !holds(); ) {
    if (Date.now() > end) throw new Error("it was not sent in time");
    await by.turn();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

it("an organization that comes late has its turn before those that fill all places of its target go on", async () => {
  test.receiver.answer = answers.late(5);
  const [far, farther, farthest] = others as [string, string, string];
  // Five webhooks each: enough for the 12 places that an organization has at a target, and together for the target's 32.
  for (const orgId of [test.orgId, far, farthest]) for (let made = 0; made < 5; made += 1) await waiting(20, { orgId });
  await waiting(1, { orgId: farther });
  const sent = () => test.receiver.received.map(({ to }) => to.split("/")[1]);
  await until(() => sent().length >= 120);
  expect(sent().indexOf(farther)).toBeLessThan(40);
});

it("a tenant whose names are never answered holds up nobody else's deliveries", async () => {
  const { dns, url } = test.receiver;
  const silent = ["one", "two", "three", "four"].map((name) => `${name}.silent.example`);
  for (const name of silent) {
    dns.setAddresses(name, ["127.0.0.1"]);
    await waiting(8, { url: url("/", name) });
  }
  await waiting(1, { orgId: others[0] as string });
  for (const name of silent) dns.setSilent(name);
  const began = performance.now();
  await until(() => test.receiver.received.length > 0);
  expect(performance.now() - began).toBeLessThan(2_000);
  expect(dns.asked.filter((question) => question.endsWith("silent.example")).length).toBeGreaterThan(0);
});

it("webhooks of one organization on a host that has just died leave places for its others", async () => {
  const { dns, url } = test.receiver;
  dns.setAddresses("dead.example", ["127.0.0.1"]);
  for (let made = 0; made < 4; made += 1) await waiting(8, { url: url("/dead", "dead.example") });
  dns.setSilent("dead.example");
  sending = new Deliverer(test.server.services);
  await sending.turn();
  await waiting(1);
  const began = performance.now();
  await until(() => test.receiver.received.length > 0, sending);
  expect(performance.now() - began).toBeLessThan(1_500);
});

it("a receiver that was slow is known to be while nothing waits for it", async () => {
  const health = new ReceiverHealth();
  const slow = { id: "slow", consecutiveFailures: 0 } as WebhookRow;
  const answer = { responseStatus: 200, responseBody: null, errorMessage: null, isFinal: false };
  health.note("slow", { ...answer, responseTimeMs: 2_001 });
  expect(health.of(slow)).toEqual({ isFailing: false, isSlow: true });
  health.note("slow", { ...answer, responseTimeMs: 5 });
  expect(health.of(slow)).toEqual({ isFailing: false, isSlow: false });
  health.note("slow", { ...answer, responseTimeMs: 5, errorMessage: "The receiver answered 500" });
  for (let other = 0; other < 9_999; other += 1) health.note(`${other}`, { ...answer, responseTimeMs: 5 });
  expect(health.of(slow).isFailing).toBe(true);
  health.note("one more", { ...answer, responseTimeMs: 5 });
  expect(health.of(slow).isFailing).toBe(false);
});

it("an attempt that runs into its time limit is tried again later, and its connection is closed", async () => {
  const { receiver, server } = test;
  const closed = new Promise<void>((resolve) => {
    receiver.answer = (_, __, request) => void once(request.socket, "close").then(() => resolve());
  });
  const id = await waiting(1);
  const { names, clock, ...services } = server.services;
  const targets = guardedPost({ ...receiver.outbound, names, allowPrivate: false, timeoutMs: 200, maxBytes: 1_000 });
  const limited = { ...services, names, clock, webhookTargets: { onPublic: targets, anywhere: targets } };
  await new Deliverer(limited).drain();
  await closed;
  const [delivery] = await test.deliveries(id);
  expect(delivery).toMatchObject({
    status: "retrying",
    attempts: 1,
    responseStatus: null,
    errorMessage: "the host did not answer in time",
  });
  expect(Date.parse(delivery.nextAttemptAt)).toBeGreaterThan(clock.nowMs());
  await targets.close();
});

it("a partner in whose queues something is always due leaves room for the queues of others", async () => {
  const { db, services } = test.server;
  const names = Array.from({ length: 501 }, (_, n) => `crowd-${n}`);
  const { partnerId, orgIds } = await seedPartner(test.server, "crowd", names);
  const dueAt = new Date(services.clock.nowMs() - 60_000).toISOString();
  const due = orgIds.map((orgId) => ({ orgId, dueAt, changes: 1, holder: null, heldUntil: null }));
  await db.insertInto("webhookQueues").values(due).execute();
  await waiting(1, { orgId: others[0] as string });
  sending = new Deliverer(services);
  for (let turns = 0; turns < 3; turns += 1) await sending.turn({ lingerMs: 60_000 });
  const ofCrowd = db.selectFrom("organizations").select("id").where("partnerId", "=", partnerId);
  const held = db.selectFrom("webhookQueues").select("orgId").where("holder", "is not", null);
  expect(await held.where("orgId", "in", ofCrowd).execute()).toHaveLength(250);
  expect(await held.where("orgId", "=", others[0] as string).execute()).toHaveLength(1);
});
