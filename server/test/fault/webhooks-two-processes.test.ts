import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startWebhookReceiver, type WebhookReceiver } from "#fixtures/simulators/webhook-receiver";
import { seedPartner, signIn } from "../harness.ts";
import { type Installation, install, type ServerProcess, until } from "./processes.ts";

let installation: Installation;
let receiver: WebhookReceiver;
/** Deliveries that have come and are not answered yet. */
const unanswered: ServerResponse[] = [];
let answersAtOnce = false;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  receiver.answer = (response) => void (answersAtOnce ? response.writeHead(204).end() : unanswered.push(response));
  installation = await install("postgres", { migrated: true, env: { WEBHOOK_ALLOW_PRIVATE: "true" } });
});
afterAll(async () => {
  await installation?.remove();
  await receiver?.stop();
});

const arrived = () => receiver.received.map(({ headers }) => headers["x-webhook-id"] as string);
const answerAll = () => {
  for (const response of unanswered.splice(0)) response.writeHead(204).end();
};
const holders = async (orgIds: readonly string[]) => {
  const rows = installation.db.selectFrom("webhookQueues").select("holder").where("orgId", "in", orgIds);
  return [...new Set((await rows.execute()).map(({ holder }) => holder))];
};

it("two processes send side by side without an attempt made twice; what a killed one held the other sends", async () => {
  const first = await installation.start();
  const { partnerId, orgIds } = await seedPartner(installation, "pair", ["a", "b", "c", "d"]);
  const { token } = await signIn(installation, { role: "Partner Admin", partnerId });
  const url = receiver.plainUrl("/in");
  for (const orgId of orgIds) {
    const body = { orgId, name: "All", url, events: ["site.*"] };
    expect((await first.request("POST", "/webhooks", { token, body })).status).toBe(201);
  }
  let told = 0;
  const tell = async (by: ServerProcess, to: readonly string[], times: number) => {
    for (const orgId of to)
      for (let n = 0; n < times; n += 1) {
        told += 1;
        const body = { orgId, name: `Site ${told}` };
        expect((await by.request("POST", "/orgs/sites", { token, body })).status).toBe(201);
      }
  };
  const [early, late] = [orgIds.slice(0, 2), orgIds.slice(2)];

  await tell(first, early, 8);
  await until("the first sends four at once for each webhook", async () => arrived().length === 8, { alive: first });
  const second = await installation.start();
  first.signal("SIGSTOP");
  await tell(second, late, 8);
  await until("the second sends for the others", async () => arrived().length === 16, { alive: second });
  first.signal("SIGCONT");
  const [held, taken] = [await holders(early), await holders(late)];
  expect([held.length, taken.length, new Set([...held, ...taken]).size]).toEqual([1, 1, 2]);

  answerAll();
  await until("both send what is left", async () => arrived().length >= 32, { alive: first });
  expect(arrived().length, "no attempt is made twice").toBe(new Set(arrived()).size);

  await tell(second, early, 2);
  await first.kill();
  const underWay = new Set(arrived().slice(16));
  // Its lease would end in 45 seconds.
  const ended = new Date(Date.now() - 1_000).toISOString();
  await installation.db.updateTable("webhookQueues").set({ heldUntil: ended }).where("holder", "in", held).execute();
  answersAtOnce = true;
  answerAll();
  await until("everything has arrived", async () => new Set(arrived()).size === told, { alive: second });
  const settled = installation.db.selectFrom("webhookDeliveries").select("id").where("status", "=", "delivered");
  await until("and is written down", async () => (await settled.execute()).length === told, { alive: second });
  const twice = arrived().filter((id, index, all) => all.indexOf(id) !== index);
  expect(
    twice.filter((id) => !underWay.has(id)),
    "only what the killed one had under way comes again",
  ).toEqual([]);
  expect(new Set(receiver.received.map(({ headers }) => headers["x-webhook-event-id"])).size).toBe(told);
  expect(await second.stop(), second.log()).toBe(0);
});
