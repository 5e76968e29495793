import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { databases, seedPartner, signIn } from "../harness.ts";
import { inProof, PROOF_TIMEOUT_MS, provenOn } from "../proving.ts";
import { startApply, withInstallation } from "./apply-run.ts";
import type { Installation } from "./processes.ts";

const ORGANIZATIONS = 16;
const SITES = 4;
const KILLS = inProof({ long: 8, short: 1 });
/** Requests of a dead process are released at once or after ten seconds; a run that hangs would take a minute. */
const RERUN_MS = 40_000;

const book = `apiVersion: rmm/v1
organizations:
${Array.from({ length: ORGANIZATIONS }, (_, org) => {
  const sites = Array.from({ length: SITES }, (_site, at) => `{ name: S${at}, address: { region: R${at} } }`).join(
    ", ",
  );
  return `  - { slug: o${org}, name: O${org}, sites: [${sites}], contacts: [{ name: Ana, site: S0 }] }`;
}).join("\n")}
`;

it.concurrent.each(provenOn(databases, "sqlite"))(
  "rmm apply against a server that is killed -9 tells partly from nothing, and a rerun goes on soon and makes nothing twice, on %s",
  { timeout: PROOF_TIMEOUT_MS },
  (database) => withInstallation(database, story),
);

async function story(installation: Installation, folder: string): Promise<void> {
  let server = await installation.start();
  const { partnerId } = await seedPartner(installation, "partner");
  const admin = await signIn(installation, { role: "Partner Admin", partnerId });
  writeFileSync(join(folder, "book.yaml"), book);
  const apply = () => startApply(installation, { folder, admin, url: server.url }).ended;
  for (let kill = 1; kill <= KILLS; kill++) {
    const run = apply();
    await reached(installation, (kill * ORGANIZATIONS * SITES) / (KILLS + 1));
    await server.kill();
    const { code, stderr } = await run;
    expect(code, `a part went through: ${stderr}`).toBe(9);
    const dead = await apply();
    expect(dead.code, "the server is gone: nothing goes through").toBe(7);
    server = await installation.start();
  }
  const from = Date.now();
  const last = await apply();
  expect(last.code, last.stderr).toBe(0);
  expect(Date.now() - from, last.stderr).toBeLessThan(RERUN_MS);
  await expectOnce(installation);
  const again = await apply();
  expect(again.code, again.stderr).toBe(0);
  expect(JSON.parse(again.stdout).summary.done).toBe(0);
  expect(await server.stop(), server.log()).toBe(0);
}

/** Waits until at least `count` sites exist. */
async function reached({ db }: Installation, count: number): Promise<void> {
  for (;;) {
    const { made } = await db
      .selectFrom("sites")
      .select((eb) => eb.fn.countAll().as("made"))
      .executeTakeFirstOrThrow();
    if (Number(made) >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function expectOnce({ db }: Installation): Promise<void> {
  const organizations = await db.selectFrom("organizations").select("slug").execute();
  expect(organizations).toHaveLength(ORGANIZATIONS);
  const sites = await db.selectFrom("sites").select(["orgId", "name"]).execute();
  expect(sites).toHaveLength(ORGANIZATIONS * SITES);
  expect(new Set(sites.map(({ orgId, name }) => `${orgId} ${name}`)).size).toBe(ORGANIZATIONS * SITES);
  expect(await db.selectFrom("contacts").select("id").execute()).toHaveLength(ORGANIZATIONS);
}
