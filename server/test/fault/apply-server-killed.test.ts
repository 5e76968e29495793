import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { databases, type SignedInUser, seedPartner, signIn } from "../harness.ts";
import { inProof, PROOF_TIMEOUT_MS } from "../proving.ts";
import { exitOf, type Installation, install, renewed, startRmm } from "./processes.ts";

const ORGANIZATIONS = 16;
const SITES = 4;
const KILLS = inProof({ long: 8, short: 1 });
/** A dead process's requests are free at once, or after ten seconds; a run that hangs would take a minute. */
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

it.concurrent.each(databases)(
  "rmm apply against a server that is killed -9 tells partly from nothing, and a rerun goes on soon and makes nothing twice, on %s",
  { timeout: PROOF_TIMEOUT_MS },
  async (database) => {
    const installation = await install(database);
    const folder = mkdtempSync(join(tmpdir(), "rmm-server-killed-"));
    try {
      await story(installation, folder);
    } finally {
      await installation.remove();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

async function story(installation: Installation, folder: string): Promise<void> {
  let server = await installation.start();
  const { partnerId } = await seedPartner(installation, "partner");
  const admin = await signIn(installation, { role: "Partner Admin", partnerId });
  writeFileSync(join(folder, "book.yaml"), book);
  for (let kill = 1; kill <= KILLS; kill++) {
    const run = applying(installation, { folder, admin, url: server.url });
    await reached(installation, (kill * ORGANIZATIONS * SITES) / (KILLS + 1));
    await server.kill();
    const { code, stderr } = await run;
    expect(code, `a part went through: ${stderr}`).toBe(9);
    const dead = await applying(installation, { folder, admin, url: server.url });
    expect(dead.code, "the server is gone: nothing goes through").toBe(7);
    server = await installation.start();
  }
  const from = Date.now();
  const last = await applying(installation, { folder, admin, url: server.url });
  expect(last.code, last.stderr).toBe(0);
  expect(Date.now() - from, last.stderr).toBeLessThan(RERUN_MS);
  await expectOnce(installation);
  const again = await applying(installation, { folder, admin, url: server.url });
  expect(again).toMatchObject({ code: 0, done: 0 });
  expect(await server.stop(), server.log()).toBe(0);
}

async function applying(
  installation: Installation,
  { folder, admin, url }: { folder: string; admin: SignedInUser; url: string },
): Promise<{ code: number | null; stderr: string; done: number }> {
  const child = startRmm(["apply", join(folder, "book.yaml"), "--yes", "--json", "--rate", "0"], {
    RMM_SERVER: url,
    RMM_TOKEN: renewed(installation, admin.token),
    RMM_CONFIG_DIR: join(folder, "config"),
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const code = await exitOf(child);
  return { code, stderr, done: stdout === "" ? 0 : JSON.parse(stdout).summary.done };
}

/** Waits until so many sites are there. */
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
