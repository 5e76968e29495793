import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type SmtpSimulator, startSmtp } from "#fixtures/simulators/smtp";
import { queueMail } from "#server/jobs/mail-queue";
import { makeDevices } from "../devices.ts";
import { makeSite } from "../enroll.ts";
import { seedPartner } from "../harness.ts";
import { inProof, MINUTES } from "../proving.ts";
import { type Installation, install, type ServerProcess, until } from "./processes.ts";

const MAILS = inProof({ long: 1_000, short: 30 });
const LEASE_MS = 4_000;
/** A dead leader and a dead run may each cost a lease; a busy machine adds to that. */
const TAKE_OVER_MS = 90_000;
const SWEEP = "device-offline-sweep";

let smtp: SmtpSimulator;
let installation: Installation;
let processes: ServerProcess[];
let place: { orgId: string; siteId: string };

beforeAll(async () => {
  smtp = await startSmtp();
  installation = await install("postgres", {
    env: {
      SMTP_HOST: "127.0.0.1",
      SMTP_PORT: String(smtp.port),
      WORKER_INTERVALS: JSON.stringify({ [SWEEP]: 1, lease: LEASE_MS / 1_000 }),
    },
  });
  processes = await Promise.all([installation.start(), installation.start()]);
  const orgId = (await seedPartner(installation, "workers", ["one"])).orgIds[0] as string;
  place = { orgId, siteId: await makeSite(installation, orgId) };
}, 5 * MINUTES);
afterAll(async () => {
  await installation?.remove();
  await smtp?.stop();
}, MINUTES);

const queue = (recipients: readonly string[]) =>
  installation.db.transaction().execute(async (tx) => {
    for (const to of recipients) await queueMail(tx, installation.services, { to, subject: "Hello", text: "Once." });
  });

const recipients = (label: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${label}-${index}@test.example`);

const receivedBy = (label: string) => smtp.received.flatMap(({ to }) => to).filter((to) => to.startsWith(`${label}-`));

const unfinished = async (): Promise<number> =>
  (await installation.db.selectFrom("jobs").select("id").where("status", "!=", "done").execute()).length;

it(`two processes send each of ${MAILS} queued mails once`, { timeout: 5 * MINUTES }, async () => {
  const wanted = recipients("calm", MAILS);
  await queue(wanted);
  await until("every job is done", async () => (await unfinished()) === 0);
  expect(receivedBy("calm").sort()).toEqual([...wanted].sort());
  const again = await installation.db.selectFrom("jobs").select("id").where("attempts", ">", 1).execute();
  expect(again).toEqual([]);
});

/** When a process last ran the sweep, in seconds; 0 = never. */
async function lastRun(server: ServerProcess): Promise<number> {
  const { body } = await server.request("GET", "/metrics");
  return Number(
    new RegExp(`^worker_last_run_timestamp_seconds\\{worker="${SWEEP}"\\} (\\S+)$`, "m").exec(body)?.[1] ?? 0,
  );
}

const leaderLease = () =>
  installation.db
    .selectFrom("leases")
    .select(["holder", "expiresAt"])
    .where("name", "=", "scheduler")
    .executeTakeFirstOrThrow();

/** Finds out which process runs the schedules. */
async function roles(): Promise<{ leader: ServerProcess; other: ServerProcess }> {
  const before = await Promise.all(processes.map(lastRun));
  let leading: number[] = [];
  await until("a process leads", async () => {
    const now = await Promise.all(processes.map(lastRun));
    leading = now.flatMap((at, index) => (at > (before[index] as number) ? [index] : []));
    return leading.length > 0;
  });
  expect(leading).toHaveLength(1);
  const leader = processes[leading[0] as number] as ServerProcess;
  return { leader, other: processes.find((one) => one !== leader) as ServerProcess };
}

const silentDevice = async (): Promise<string> =>
  (
    await makeDevices(installation, [{ ...place, status: "online", lastSeenAt: "2026-01-01T00:00:00.000Z" }])
  )[0] as string;

const isOffline = async (id: string): Promise<boolean> => {
  const device = await installation.db.selectFrom("devices").select("status").where("id", "=", id).executeTakeFirst();
  return device?.status === "offline";
};

const timesOffline = async (deviceId: string): Promise<number> =>
  (await installation.db.selectFrom("deviceAvailability").select("id").where("deviceId", "=", deviceId).execute())
    .length;

/** Suspends a process between two runs; returns the time in seconds. */
async function putToSleep(server: ServerProcess): Promise<number> {
  let atMs = 0;
  await until("it sleeps between two runs", async () => {
    server.signal("SIGSTOP");
    atMs = Date.now();
    const run = await installation.db
      .selectFrom("leases")
      .select("name")
      .where("name", "=", `schedule:${SWEEP}`)
      .executeTakeFirst();
    if (run) server.signal("SIGCONT");
    return run === undefined;
  });
  return Math.ceil(atMs / 1_000);
}

it("schedules run on one process at a time, also when the leader slept through its lease", {
  timeout: 5 * MINUTES,
}, async () => {
  const { leader, other } = await roles();
  const device = await silentDevice();
  await until("the sweep ran", () => isOffline(device));
  expect(await timesOffline(device)).toBe(1);
  const otherBefore = await lastRun(other);
  const { holder } = await leaderLease();
  const asleepSince = await putToSleep(leader);
  try {
    await until("the other leads", async () => (await leaderLease()).holder !== holder, { timeoutMs: TAKE_OVER_MS });
    await until("the other runs", async () => (await lastRun(other)) > otherBefore, { timeoutMs: TAKE_OVER_MS });
  } finally {
    leader.signal("SIGCONT");
  }
  const taken = await lastRun(other);
  await until("the other goes on", async () => (await lastRun(other)) > taken + 3);
  expect(await lastRun(leader), "it ran what was not its turn any more").toBeLessThanOrEqual(asleepSince);
  expect((await leaderLease()).holder).not.toBe(holder);
});

it("after a leader is killed in the middle of a run, another takes over and repeats the run within the lease", {
  timeout: 5 * MINUTES,
}, async () => {
  const { leader, other } = await roles();
  const { holder } = await leaderLease();
  const device = await silentDevice();
  // The run of the sweep waits for this lock.
  const lock = await installation.db.startTransaction().execute();
  await sql`lock table devices in access exclusive mode`.execute(lock);
  await until("the leader is in the middle of its sweep", async () => {
    const { rows } = await sql`
      select pid from pg_locks where not granted and relation = 'devices'::regclass`.execute(lock);
    return rows.length > 0;
  });
  await leader.kill();
  const killedMs = Date.now();
  const { expiresAt } = await leaderLease();
  await lock.commit().execute();
  await until("the other has taken over the sweep", () => isOffline(device), { timeoutMs: TAKE_OVER_MS, alive: other });
  expect(Date.now() - killedMs).toBeLessThan(TAKE_OVER_MS);
  const lease = await leaderLease();
  expect(lease.holder).not.toBe(holder);
  const takenMs = Date.parse(lease.expiresAt) - LEASE_MS;
  expect(takenMs, "not before the dead leader's lease ran out").toBeGreaterThanOrEqual(Date.parse(expiresAt));
  expect(await timesOffline(device)).toBe(1);
  await until("the other leads", async () => (await lastRun(other)) > 0);
  processes = [other, await installation.start()];
});

it("a process that dies while it sends loses no mail: at most the current one is sent twice", {
  timeout: 5 * MINUTES,
}, async () => {
  const wanted = recipients("killed", MAILS);
  await queue(wanted);
  const victim = processes[0] as ServerProcess;
  await until("some are sent", async () => receivedBy("killed").length >= MAILS / 5);
  await victim.kill();
  await until("what is left is in the hands of the dead", async () => {
    const waiting = await installation.db.selectFrom("jobs").select("id").where("status", "=", "queued").execute();
    return waiting.length === 0;
  });
  // Two minutes later.
  const past = "2026-01-01T00:00:00.000Z";
  await installation.db.updateTable("jobs").set({ lockedUntil: past }).where("status", "=", "running").execute();
  await until("every job is done", async () => (await unfinished()) === 0);
  const received = receivedBy("killed");
  expect([...new Set(received)].sort()).toEqual([...wanted].sort());
  expect(received.length).toBeLessThanOrEqual(wanted.length + 2);
});
