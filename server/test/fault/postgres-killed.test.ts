import { expect, it } from "vitest";
import { type OwnPostgresCluster, startOwnPostgres } from "#fixtures/postgres";
import { seededRandom } from "#fixtures/simulators/seeded-random";
import { seedPartner, signIn } from "../harness.ts";
import { inProof, PROOF_TIMEOUT_MS, proving } from "../proving.ts";
import { checkChains, checkEntries, checkRows, forgetDeadRuns, settleDoubts } from "./check-ledger.ts";
import { Ledger, mutate } from "./load.ts";
import { type Installation, install, renewed, type ServerProcess, until } from "./processes.ts";

const KILLS = inProof({ long: 50, short: 1 });
const TOTAL = inProof({ long: 6_000, short: 200 });
/** Longer than a server may keep a caller waiting for an unreachable database. */
const ANSWER_MS = 30_000;
const seed = process.env["RMM_FAULT_SEED"] ?? String(Date.now());

it(`Postgres killed -9 under load ${KILLS} times: the server answers 503 meanwhile, recovers by itself and loses nothing (seed ${seed})`, {
  timeout: PROOF_TIMEOUT_MS,
}, async () => {
  const cluster = await startOwnPostgres({ durable: true });
  const installation = await install("postgres", { databaseUrl: cluster.url });
  try {
    await story(installation, cluster);
  } finally {
    await installation.remove();
    await cluster.stop();
  }
});

async function story(installation: Installation, cluster: OwnPostgresCluster): Promise<void> {
  const random = seededRandom(seed);
  // Schedules meet the outage too and must not end the process.
  const everySecond = { "device-offline-sweep": 1, "sessions.purge": 1, "audit.anchors": 1 };
  const server = await installation.start({ WORKER_INTERVALS: JSON.stringify(everySecond) });
  const { partnerId, orgIds } = await seedPartner(installation, "load", ["one", "two", "three"]);
  const admin = await signIn(installation, { role: "Partner Admin", partnerId });
  const token = () => renewed(installation, admin.token);
  const ask = () => answerOf(server, token(), orgIds[0] as string);
  expect(await ask()).toBe(200);

  const ledger = new Ledger();
  const stride = Math.floor((TOTAL - 50) / KILLS);
  const points = Array.from({ length: KILLS }, (_, index) => index * stride + random.int(1, stride));
  let outage: Promise<void> = Promise.resolve();
  let kills = 0;
  const strike = async () => {
    await cluster.kill();
    kills += 1;
    await until("the server says that its database is gone", async () => (await ask()) === 503, { alive: server });
    expect((await server.request("GET", "/health")).status, "the process itself is well").toBe(200);
    await cluster.restart();
    await until("the server is back by itself", async () => (await ask()) === 200, { alive: server });
  };
  const onAcknowledged = (count: number) => {
    if (count < (points[0] ?? Number.POSITIVE_INFINITY)) return;
    points.shift();
    const strikeNow = strike();
    outage = Promise.all([outage, strikeNow]).then(() => undefined);
    outage.catch(() => undefined);
  };
  await mutate({
    ledger,
    random,
    token,
    orgIds,
    server: () => outage.then(() => server),
    onAcknowledged,
    total: TOTAL,
  });
  expect(ledger.unexpected, server.log()).toEqual([]);
  expect(kills).toBe(KILLS);
  expect(server.alive, server.log()).toBe(true);

  if (!proving) await forgetDeadRuns(installation);
  await settleDoubts({ installation, server, token }, ledger);
  expect(ledger.unexpected, server.log()).toEqual([]);
  // A kill may interrupt only reads.
  if (proving) expect(ledger.doubts.length, "the kills hit nothing").toBeGreaterThan(0);
  await checkRows(installation, ledger);
  await checkEntries(installation, ledger);
  await checkChains(installation, { server, token: token(), orgIds });
  expect(await server.stop(), server.log()).toBe(0);
}

/** The status of a read. Anything but 200 or 503 within the time limit is a fault. */
async function answerOf(server: ServerProcess, token: string, orgId: string): Promise<number> {
  const began = Date.now();
  const { status, body } = await server.request("GET", `/orgs/organizations/${orgId}`, { token });
  expect([200, 503], JSON.stringify(body)).toContain(status);
  expect(Date.now() - began).toBeLessThan(ANSWER_MS);
  return status;
}
