import { expect, it } from "vitest";
import { type DatabaseName, databases } from "../harness.ts";
import { inProof, PROOF_TIMEOUT_MS } from "../proving.ts";
import { checkChains, checkEntries, checkEvents, checkRows } from "./check-ledger.ts";
import { faultSeed, mutateUnderKills } from "./killable.ts";
import { type Installation, withInstallation } from "./processes.ts";

const KILLS = inProof({ long: 1_000, short: 2 });
const TOTAL = inProof({ long: 20_000, short: 300 });

it.concurrent.each(databases)(
  `kill -9 at ${KILLS} points of ${TOTAL} mutations loses nothing and tells of each exactly once, on %s (seed ${faultSeed})`,
  { timeout: PROOF_TIMEOUT_MS },
  (database: DatabaseName) =>
    withInstallation(database, { migrated: true }, (installation) => story(installation, database)),
);

async function story(installation: Installation, database: DatabaseName): Promise<void> {
  const killing = { database, kills: KILLS, total: TOTAL };
  const { ledger, last, orgIds, token } = await mutateUnderKills(installation, killing);
  await checkRows(installation, ledger);
  await checkEntries(installation, ledger);
  await checkEvents(installation, ledger);
  await checkChains(installation, { server: last, token: token(), orgIds });
  expect(await last.stop(), last.log()).toBe(0);
}
