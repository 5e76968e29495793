import { expect } from "vitest";
import { seededRandom } from "#fixtures/simulators/seeded-random";
import { type DatabaseName, seedPartner, signIn } from "../harness.ts";
import { proving } from "../proving.ts";
import { forgetDeadRuns, settleDoubts } from "./check-ledger.ts";
import { Ledger, mutate } from "./load.ts";
import { type Installation, renewed, type ServerProcess } from "./processes.ts";

export const faultSeed = process.env["RMM_FAULT_SEED"] ?? String(Date.now());

interface Killing {
  database: DatabaseName;
  kills: number;
  total: number;
}

/** Mutates under load, kills the server at random points of it, and finds out what became of each mutation. */
export async function mutateUnderKills(installation: Installation, { database, kills, total }: Killing) {
  const random = seededRandom(`${faultSeed} ${database}`);
  const server = killable(installation, await installation.start());
  const { partnerId, orgIds } = await seedPartner(installation, "load", ["one", "two", "three"]);
  const admin = await signIn(installation, { role: "Partner Admin", partnerId });
  const token = () => renewed(installation, admin.token);
  // The last kill still happens under load.
  const stride = Math.floor((total - total / 3) / kills);
  const points = Array.from({ length: kills }, (_, index) => index * stride + random.int(1, stride));
  const ledger = new Ledger();
  const onAcknowledged = (count: number) => {
    if (count < (points[0] ?? Number.POSITIVE_INFINITY) || server.dying()) return;
    points.shift();
    // Not right after an answer, but while other requests are being handled.
    server.killIn(random.int(0, 30));
  };
  await mutate({ ledger, random, token, orgIds, server: server.current, onAcknowledged, total });
  expect(ledger.unexpected).toEqual([]);
  expect(server.kills()).toBe(kills);
  const last = await server.current();
  if (!proving) await forgetDeadRuns(installation);
  await settleDoubts({ installation, server: last, token }, ledger);
  expect(ledger.unexpected).toEqual([]);
  if (proving) expect(ledger.doubts.length, "the kills hit nothing").toBeGreaterThan(kills / 2);
  return { ledger, last, orgIds, token };
}

/** The current server; requests wait while there is none. */
function killable(installation: Installation, first: ServerProcess) {
  let current = Promise.resolve(first);
  let kills = 0;
  let dying = false;
  const kill = async () => {
    const victim = await current;
    kills += 1;
    current = victim.kill().then(() => installation.start());
    await current.catch(() => undefined);
    dying = false;
  };
  return {
    current: () => current,
    kills: () => kills,
    dying: () => dying,
    killIn(ms: number) {
      dying = true;
      setTimeout(() => void kill(), ms);
    },
  };
}
