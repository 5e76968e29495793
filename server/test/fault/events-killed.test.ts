import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { seededRandom } from "#fixtures/simulators/seeded-random";
import { type DatabaseName, databases, seedPartner, signIn } from "../harness.ts";
import { inProof, PROOF_TIMEOUT_MS, provenOn } from "../proving.ts";
import { checkEvents } from "./check-ledger.ts";
import { faultSeed, mutateUnderKills } from "./killable.ts";
import { Ledger, mutate } from "./load.ts";
import { type Installation, install, renewed, until } from "./processes.ts";

const KILLS = inProof({ long: 200, short: 1 });
const TOTAL = inProof({ long: 2_000, short: 40 });
const CONSUMERS = ["first", "second"] as const;

/** A server with two consumers that write what they are told into a file each: nothing takes that back. */
const SERVER = `
import { appendFileSync } from "node:fs";
import { readConfig } from "#server/config";
import { startEvents } from "#server/events/runner";
import { startServer } from "#server/main";
const config = readConfig(process.env);
const server = await startServer({ config: { ...config, port: 0 } });
const keeping = (name) => ({
  name,
  async handle(_, __, events) {
    const lines = events.map(({ id, kind, subjectId, position }) => JSON.stringify({ id, kind, subjectId, position }));
    appendFileSync(config.dataDir + "/" + name + ".ndjson", lines.join("\\n") + "\\n");
    return false;
  },
});
const runner = startEvents(server.services, ["first", "second"].map(keeping));
server.services.wakeEvents = runner.wake;
process.once("SIGTERM", () => void runner.stop().then(() => server.stop()).then(() => process.exit(0)));
process.stdout.write(JSON.stringify({ event: "listening", url: server.url }) + "\\n");
`;

interface Received {
  id: string;
  kind: string;
  subjectId: string;
  position: number;
}

function received({ dataDir }: Installation, consumer: string): Received[] {
  const text = readFileSync(join(dataDir, `${consumer}.ndjson`), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Received);
}

/** What is stored and numbered, once every consumer has come to its end. */
async function handedOut({ db }: Installation): Promise<Received[]> {
  await until("every consumer has passed every event", async () => {
    const events = await db.selectFrom("events").select("position").execute();
    const cursors = await db.selectFrom("eventCursors").select("position").where("consumer", "in", CONSUMERS).execute();
    const end = Math.max(...events.map(({ position }) => position ?? Number.POSITIVE_INFINITY));
    return cursors.length === CONSUMERS.length && cursors.every(({ position }) => position === end);
  });
  const rows = await db.selectFrom("events").select(["id", "kind", "subjectId", "position"]).execute();
  return (rows as Received[]).toSorted((one, other) => one.position - other.position);
}

const firstTimes = (told: readonly Received[]) => [...new Map(told.toReversed().map((one) => [one.id, one])).values()];

it.concurrent.each(provenOn(databases, "postgres"))(
  `kill -9 at ${KILLS} points of ${TOTAL} mutations: every consumer is told of each event, in order, on %s (seed ${faultSeed})`,
  { timeout: PROOF_TIMEOUT_MS },
  async (database: DatabaseName) => {
    const installation = await install(database, { server: SERVER, migrated: true });
    try {
      const { ledger, last } = await mutateUnderKills(installation, { database, kills: KILLS, total: TOTAL });
      const events = await handedOut(installation);
      await checkEvents(installation, ledger);
      expect(events.map(({ position }) => position)).toEqual(events.map((_, index) => index + 1));
      const begun = events.filter(({ subjectId }, at) => events.findIndex((one) => one.subjectId === subjectId) === at);
      expect(
        begun.filter(({ kind }) => !kind.endsWith(".created")),
        "of each subject in order",
      ).toEqual([]);
      for (const consumer of CONSUMERS) {
        const told = received(installation, consumer);
        expect(firstTimes(told).toReversed(), consumer).toEqual(events);
        // A batch whose process died is told again, from its beginning.
        expect(told.length).toBeLessThanOrEqual(events.length + KILLS * 200);
      }
      expect(await last.stop(), last.log()).toBe(0);
    } finally {
      await installation.remove();
    }
  },
);

it("two processes on one Postgres hand out no event twice", { timeout: PROOF_TIMEOUT_MS }, async () => {
  const installation = await install("postgres", { server: SERVER, migrated: true });
  try {
    const servers = [await installation.start(), await installation.start()] as const;
    const { partnerId, orgIds } = await seedPartner(installation, "pair", ["one"]);
    const admin = await signIn(installation, { role: "Partner Admin", partnerId });
    const ledger = new Ledger();
    let asked = 0;
    await mutate({
      ledger,
      random: seededRandom(faultSeed),
      token: () => renewed(installation, admin.token),
      orgIds,
      server: async () => servers[asked++ % 2] as (typeof servers)[0],
      total: TOTAL,
    });
    const events = await handedOut(installation);
    await checkEvents(installation, ledger);
    expect(events.length).toBeGreaterThan(TOTAL / 3);
    for (const consumer of CONSUMERS) expect(received(installation, consumer), consumer).toEqual(events);
  } finally {
    await installation.remove();
  }
});
