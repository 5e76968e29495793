import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { plainWebhook } from "#fixtures/nouns/integrations/webhooks";
import { plainOrganization } from "#fixtures/nouns/tenancy/organizations";
import { plainPartner } from "#fixtures/nouns/tenancy/partners";
import { createDatabase, type PostgresCluster, startPostgres } from "#fixtures/postgres";
import { buildServices } from "#server/app";
import { readConfig } from "#server/config";
import { asSystem } from "#server/db/as-system";
import { queueDeliveries } from "#server/features/integrations/webhooks/queue";
import { sealSecret, sealUrl } from "#server/features/integrations/webhooks/sealed";
import { Deliverer } from "#server/features/integrations/webhooks/sending/deliverer";
import type { Services } from "#server/services";
import type { Bench } from "./bench.ts";
import { started, type Target } from "./target.ts";

const ORGANIZATIONS = 4;
const WEBHOOKS = 5;
const EVENTS = 200;
const BODY = JSON.stringify({ id: "event", type: "site.created", data: { name: "x".repeat(300) } });

/** Deliveries from the queue to their settled rows, compared to bare posts of the same body to the same receiver. */
export const webhookDeliveries: readonly Bench[] = [benchOn("sqlite", 0.25), benchOn("postgres", 0.2)];

function benchOn(database: "sqlite" | "postgres", value: number): Bench {
  let cluster: PostgresCluster | undefined;
  let dir: string | undefined;
  let services: Services | undefined;
  let receiver: Target | undefined;
  let webhooks: { id: string; orgId: string }[] = [];
  return {
    name: `webhook deliveries ÷ bare posts (${database === "sqlite" ? "SQLite" : "Postgres"})`,
    limit: { kind: "min", value },
    async start() {
      receiver = await started("receive-server", []);
      dir = mkdtempSync(join(tmpdir(), "rmm-bench-"));
      if (database === "postgres") cluster = await startPostgres();
      const url = cluster && (await createDatabase({ label: "bench", cluster: cluster.url }));
      const env = { RMM_DATA_DIR: dir, WEBHOOK_ALLOW_PRIVATE: "true", LOG_LEVEL: "error" };
      services = buildServices(readConfig({ ...env, ...(url && { DATABASE_URL: url }) }));
      await services.store.migrate();
      webhooks = await seed(services, receiver.url);
    },
    async run() {
      const own = services as Services;
      await queue(own, webhooks);
      const measured = await rate(webhooks.length * EVENTS, () => new Deliverer(own).drain());
      const against = await rate(webhooks.length * EVENTS, () => barePosts((receiver as Target).url));
      return { measured, against, unit: "deliveries/s" };
    },
    async stop() {
      receiver?.process.kill();
      await Promise.all(Object.values(services?.webhookTargets ?? {}).map((targets) => targets.close()));
      await services?.store.close();
      await cluster?.stop();
      if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function rate(count: number, work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return count / ((performance.now() - began) / 1_000);
}

async function seed(services: Services, url: string) {
  const db = asSystem(services, "deliver webhooks");
  const { random, vault, clock } = services;
  const stamps = { createdAt: clock.now(), updatedAt: clock.now() };
  const partnerId = random.uuid();
  const partner = { ...plainPartner("bench"), id: partnerId, ...stamps };
  await db.insertInto("partners").values(partner).execute();
  const made: { id: string; orgId: string }[] = [];
  for (let n = 0; n < ORGANIZATIONS; n += 1) {
    const orgId = random.uuid();
    const organization = { ...plainOrganization(`bench-${n}`), id: orgId, partnerId, ...stamps };
    await db.insertInto("organizations").values(organization).execute();
    for (let w = 0; w < WEBHOOKS; w += 1) {
      const id = random.uuid();
      const sealed = { urlSealed: sealUrl(vault, id, url), secretSealed: sealSecret(vault, id, "whsec_of-the-bench") };
      const webhook = { ...plainWebhook(clock.now()), ...sealed, id, orgId, target: url, writtenBy: "system" as const };
      await db
        .insertInto("webhooks")
        .values({ ...webhook, createdBy: null })
        .execute();
      made.push({ id, orgId });
    }
  }
  return made;
}

async function queue(services: Services, webhooks: readonly { id: string; orgId: string }[]): Promise<void> {
  const { random, clock } = services;
  const deliveries = webhooks.flatMap((webhook) =>
    Array.from({ length: EVENTS }, () => ({
      id: random.uuid(),
      webhook,
      event: "site.created",
      eventId: random.uuid(),
      sentBody: BODY,
      origin: "event" as const,
    })),
  );
  await asSystem(services, "deliver webhooks")
    .transaction()
    .execute((tx) => queueDeliveries(tx, deliveries, clock.now()));
}

async function barePosts(url: string): Promise<void> {
  const pool = new Pool(url, { connections: 32 });
  let left = ORGANIZATIONS * WEBHOOKS * EVENTS;
  const headers = { "content-type": "application/json" };
  const sender = async () => {
    for (; left > 0; ) {
      left -= 1;
      const { body } = await pool.request({ method: "POST", path: "/", headers, body: BODY });
      await body.dump();
    }
  };
  await Promise.all(Array.from({ length: 32 }, sender));
  await pool.close();
}
