import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { auditHandle } from "#server/audit/handle";
import { enrollmentKeyHash } from "#server/features/credentials/enrollment-keys/key-hash";
import { type DatabaseName, databases, seedPartner, signIn } from "../harness.ts";
import { inProof, PROOF_TIMEOUT_MS, provenOn } from "../proving.ts";
import { startApply, withInstallation } from "./apply-run.ts";
import { moments, startLine } from "./killing-line.ts";
import type { Installation } from "./processes.ts";

/** A run is killed after at least this many mutations: the fewer, the more runs it takes. */
const SURVIVED = inProof({ long: 1, short: 4 });
const KILLS_MIN = inProof({ long: 6, short: 3 });

const book = `apiVersion: rmm/v1
organizations:
  - slug: harbor
    name: Harbor Dental
    sites:
      - { name: HQ, timezone: America/Denver }
      - { name: Lab, timezone: Asia/Tokyo }
    contacts:
      - { name: Ana Ruiz, email: ana@harbor.example, roles: [billing], isPrimary: true }
      - { name: 山田 太郎, email: yamada@harbor.example, site: Lab, isPrimary: true }
      - { name: Cleo, email: cleo@harbor.example }
      - { name: Dov, email: dov@harbor.example }
      - { name: Eli, email: eli@harbor.example }
    enrollmentKeys:
      - { name: rollout, site: HQ, maxUsage: 25, expiresIn: 20d, sink: "file:secrets/rollout.key" }
      - { name: spare, sink: "file:secrets/spare.key" }
  - slug: quay
    name: Quay Legal
    sites: [{ name: Office }]
    contacts:
      - { name: Bo, email: bo@quay.example }
      - { name: Fay, email: fay@quay.example }
      - { name: Gus, email: gus@quay.example }
      - { name: Hal, email: hal@quay.example }
    enrollmentKeys:
      - { name: front desk, site: Office, maxUsage: 5, expiresIn: 10d, sink: "file:secrets/front.key" }
`;

const promised = {
  organizations: ["harbor", "quay"],
  sites: ["HQ", "Lab", "Office"],
  contacts: ["Ana Ruiz", "Bo", "Cleo", "Dov", "Eli", "Fay", "Gus", "Hal", "山田 太郎"],
  keys: ["front desk", "rollout", "spare"],
};
const files: Record<string, string> = { rollout: "rollout.key", spare: "spare.key", "front desk": "front.key" };

it.concurrent.each(provenOn(databases, "sqlite"))(
  "rmm apply killed -9 again and again converges: nothing twice, every secret in its file, on %s",
  { timeout: PROOF_TIMEOUT_MS },
  (database: DatabaseName) => withInstallation(database, story),
);

async function story(installation: Installation, folder: string): Promise<void> {
  const server = await installation.start();
  const { partnerId } = await seedPartner(installation, "partner");
  const admin = await signIn(installation, { role: "Partner Admin", partnerId });
  const line = await startLine(server);
  writeFileSync(join(folder, "book.yaml"), book);
  const start = () => startApply(installation, { folder, admin, url: line.url });
  try {
    let kills = 0;
    for (;;) {
      const { child, ended } = start();
      line.killAt(SURVIVED + (kills % 4), moments[kills % 3] as (typeof moments)[number], child);
      const { code, stderr } = await ended;
      if (code === 0) break;
      expect(code, `it was not killed but failed: ${stderr}`).toBeNull();
      kills += 1;
    }
    expect(kills).toBeGreaterThanOrEqual(KILLS_MIN);
    await expectConverged(installation, folder);

    const mutations = line.mutations();
    const { code, stderr } = await start().ended;
    expect(code, stderr).toBe(0);
    expect(line.mutations(), "a run after the last has nothing to do").toBe(mutations);
  } finally {
    await line.stop();
  }
}

/** Every row exists once, and each secret file holds the key of its name and has mode 0600. */
async function expectConverged(installation: Installation, folder: string): Promise<void> {
  const { db, services } = installation;
  const organizations = await db.selectFrom("organizations").select("slug").orderBy("slug").execute();
  const sites = await db.selectFrom("sites").select("name").execute();
  const contacts = await db.selectFrom("contacts").select("name").execute();
  const keys = await db.selectFrom("enrollmentKeys").select(["id", "name", "keyHash"]).execute();
  expect({
    organizations: organizations.map(({ slug }) => slug),
    sites: sites.map(({ name }) => name).sort(),
    contacts: contacts.map(({ name }) => name).sort(),
    keys: keys.map(({ name }) => name).sort(),
  }).toEqual(promised);
  const pepper = services.config.enrollmentKeyPeppers[0] as string;
  for (const { name, keyHash } of keys) {
    const path = join(folder, "secrets", files[name] as string);
    expect(enrollmentKeyHash(pepper, readFileSync(path, "utf8").trim()), path).toBe(keyHash);
  }
  // A temporary file that a killed run left behind is checked too.
  for (const file of readdirSync(join(folder, "secrets"))) {
    expect(statSync(join(folder, "secrets", file)).mode & 0o777, file).toBe(0o600);
  }
  await installation.settled();
  const minted = await auditHandle(db)
    .selectFrom("auditLogs")
    .select("resourceId")
    .where("action", "=", "enrollment_key.create")
    .where("result", "=", "success")
    .execute();
  expect(minted.map(({ resourceId }) => resourceId).sort(), "no second key was ever minted").toEqual(
    keys.map(({ id }) => id).sort(),
  );
}
