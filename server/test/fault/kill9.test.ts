import { expect, it } from "vitest";
import { seededRandom } from "#fixtures/simulators/seeded-random";
import { type DatabaseName, databases, seedPartner, signIn } from "../harness.ts";
import { inProof, PROOF_TIMEOUT_MS, proving } from "../proving.ts";
import { checkChains, checkEntries, checkRows, settleDoubts } from "./check-ledger.ts";
import { Ledger, mutate } from "./load.ts";
import { type Installation, install, renewed, type ServerProcess } from "./processes.ts";

const KILLS = inProof({ long: 1_000, short: 2 });
const TOTAL = inProof({ long: 20_000, short: 300 });
const seed = process.env["RMM_FAULT_SEED"] ?? String(Date.now());

it.concurrent.each(databases)(
  `kill -9 at ${KILLS} points of ${TOTAL} mutations loses nothing and tells of each exactly once, on %s (seed ${seed})`,
  { timeout: PROOF_TIMEOUT_MS },
  async (database: DatabaseName) => {
    const installation = await install(database);
    try {
      await story(installation, database);
    } finally {
      await installation.remove();
    }
  },
);

async function story(installation: Installation, database: DatabaseName): Promise<void> {
  const random = seededRandom(`${seed} ${database}`);
  const server = killable(installation, await installation.start());
  const { partnerId, orgIds } = await seedPartner(installation, "load", ["one", "two", "three"]);
  const admin = await signIn(installation, { role: "Partner Admin", partnerId });
  const token = () => renewed(installation, admin.token);
  // The last kill still happens under load.
  const stride = Math.floor((TOTAL - 100) / KILLS);
  const points = Array.from({ length: KILLS }, (_, index) => index * stride + random.int(1, stride));
  const ledger = new Ledger();
  const onAcknowledged = (count: number) => {
    if (count < (points[0] ?? Number.POSITIVE_INFINITY) || server.dying()) return;
    points.shift();
    // Not right after an answer, but while other requests are being handled.
    server.killIn(random.int(0, 30));
  };
  await mutate({ ledger, random, token, orgIds, server: server.current, onAcknowledged, total: TOTAL });
  expect(ledger.unexpected).toEqual([]);
  expect(server.kills()).toBe(KILLS);
  const last = await server.current();
  await settleDoubts({ installation, server: last, token }, ledger);
  expect(ledger.unexpected).toEqual([]);
  expect(ledger.doubts.length, "the kills hit nothing").toBeGreaterThan(proving ? KILLS / 2 : 0);
  await checkRows(installation, ledger);
  await checkEntries(installation, ledger);
  await checkChains(installation, { server: last, token: token(), orgIds });
  expect(await last.stop(), last.log()).toBe(0);
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
