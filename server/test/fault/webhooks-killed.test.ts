import { afterAll, beforeAll, expect, it } from "vitest";
import { seededRandom } from "#fixtures/simulators/seeded-random";
import { answers, startWebhookReceiver, type WebhookReceiver } from "#fixtures/simulators/webhook-receiver";
import { databases, seedPartner, signIn } from "../harness.ts";
import { inProof, PROOF_TIMEOUT_MS, provenOn } from "../proving.ts";
import { faultSeed } from "./killable.ts";
import { type Installation, renewed, type ServerProcess, until, withInstallation } from "./processes.ts";

const KILLS = inProof({ long: 50, short: 1 });
const BETWEEN = inProof({ long: 40, short: 25 });

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  receiver.answer = answers.late(3);
});
afterAll(() => receiver?.stop());

it.each(provenOn(databases, "sqlite"))(
  `every committed event reaches the receiver under one id although the server is killed ${KILLS} times, on %s (seed ${faultSeed})`,
  { timeout: PROOF_TIMEOUT_MS },
  (database) =>
    withInstallation(database, { env: { WEBHOOK_ALLOW_PRIVATE: "true" } }, (installation) =>
      story(installation, database),
    ),
);

async function story(installation: Installation, database: string): Promise<void> {
  let server = await installation.start();
  const { partnerId, orgIds } = await seedPartner(installation, "told", ["one"]);
  const orgId = orgIds[0] as string;
  const admin = await signIn(installation, { role: "Partner Admin", partnerId });
  const post = (to: ServerProcess, path: string, body: object) =>
    to.request("POST", path, { token: renewed(installation, admin.token), body });
  const url = receiver.plainUrl(`/${database}`);
  const made = await post(server, "/webhooks", { orgId, name: "All", url, events: ["site.*"] });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const random = seededRandom(`${faultSeed} ${database} webhooks`);
  let known = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const victim = server;
    const [answered, laterMs] = [random.int(1, BETWEEN - 1), random.int(0, 20)];
    let enough: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => {
      enough = resolve;
    });
    let done = 0;
    const writing = Array.from({ length: BETWEEN }, (_, index) =>
      // What the death cuts off may be done or not: the log of events says which.
      post(victim, "/orgs/sites", { orgId, name: `Site ${kill} ${index}` })
        .then(({ status }) => {
          if (status === 201) known += 1;
          done += 1;
          if (done >= answered) enough();
        })
        .catch(() => undefined),
    );
    await Promise.race([reached, Promise.all(writing)]);
    await new Promise((resolve) => setTimeout(resolve, laterMs));
    await victim.kill();
    await Promise.all(writing);
    server = await installation.start();
    // Its lease would end in a moment: it is dead.
    await installation.db.updateTable("webhookQueues").set({ holder: null, heldUntil: null }).execute();
  }
  const events = installation.db.selectFrom("events").select(["id", "siteId"]).where("kind", "=", "site.created");
  const told = await events.execute();
  expect(told.length, "acknowledged ones are told of").toBeGreaterThanOrEqual(known);
  const sites = await installation.db.selectFrom("sites").select("id").where("name", "like", "Site %").execute();
  expect(told.map(({ siteId }) => siteId).toSorted(), "one event for each site that there is").toEqual(
    sites.map(({ id }) => id).toSorted(),
  );
  const arrived = () =>
    receiver.received
      .filter(({ to }) => to.endsWith(`/${database}`))
      .map(({ headers }) => headers["x-webhook-event-id"] as string);
  await until("every event has arrived", async () => new Set(arrived()).size >= told.length, { alive: server });
  expect(new Set(arrived())).toEqual(new Set(told.map(({ id }) => id)));
  const deliveries = await installation.db.selectFrom("webhookDeliveries").select(["eventId", "status"]).execute();
  expect(new Set(deliveries.map(({ eventId }) => eventId)).size, "one for each event").toBe(deliveries.length);
  const { length: requests } = arrived();
  process.stdout.write(
    `${database}: ${KILLS} kills, ${KILLS * BETWEEN} mutations, ${known} acknowledged, ${told.length} committed, ` +
      `${requests} deliveries of ${told.length} events\n`,
  );
  expect(await server.stop(), server.log()).toBe(0);
}
