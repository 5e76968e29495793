import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { anchorPublicKey } from "#server/audit/keeper";
import { type Installation, renewed, startRmm, withInstallation } from "../fault/processes.ts";
import { databases, seedPartner, signIn } from "../harness.ts";
import { PROOF_TIMEOUT_MS, proving } from "../proving.ts";
import { addEntries } from "./many-entries.ts";
import { peakOf, type RanToEnd, ranToEnd, tellsPeaks } from "./peak-memory.ts";

/** The same bounds however many entries there are: what holds for the most of them shows that nothing is gathered. */
const SIZES = proving ? [50_000, 250_000, 1_000_000] : [10_000];
const MOST_MB = { server: 320, command: 180, second: 180 };

const second = fileURLToPath(new URL("../../../scripts/verify-audit-bundle.mjs", import.meta.url));

it.each(databases)(
  `a bundle of ${SIZES.join(", ")} entries is exported and verified twice in constant memory, on %s`,
  { timeout: PROOF_TIMEOUT_MS },
  (database) => withInstallation(database, { migrated: true }, (installation) => story(installation, database)),
);

async function story(installation: Installation, database: string): Promise<void> {
  // The first start makes what everybody needs.
  const first = await installation.start();
  const { partnerId, orgIds } = await seedPartner(installation, "large", ["large"]);
  const orgId = orgIds[0] as string;
  const admin = await signIn(installation, { role: "Partner Admin", partnerId });
  const key = anchorPublicKey(installation.services) as string;
  const at = (name: string) => join(installation.dataDir, name);
  writeFileSync(at("anchors.pub"), `${key}\n`);
  await first.stop();
  let there = 0;
  for (const size of SIZES) {
    await addEntries(installation, { orgId, partnerId, count: size - there });
    there = size;
    const server = await installation.start();
    const token = renewed(installation, admin.token);
    const env = { RMM_SERVER: server.url, RMM_TOKEN: token, RMM_CONFIG_DIR: at("config") };
    // Anchors the head.
    const chain = await server.request("POST", "/audit-logs/verify", { token, body: { orgId } });
    expect(chain.body).toMatchObject({ ok: true, breaks: [] });
    const file = at(`large-${size}.ndjson.gz`);
    const exported = await ranToEnd(startRmm(["audit", "export", "--bundle", file, "--org", orgId], env));
    expect(exported.code, exported.stderr).toBe(0);
    const serverMb = peakOf(server.pid) ?? 0;
    const offline = { RMM_CONFIG_DIR: at("config") };
    const verified = await ranToEnd(
      startRmm(["audit", "verify", file, "--trust", at("anchors.pub"), "--json"], offline),
    );
    expect(verified.code, verified.stderr).toBe(0);
    const again = await ranToEnd(spawn(process.execPath, [second, file, "--public-key", key]));
    expect(again.code, again.stderr).toBe(0);
    expect(JSON.parse(verified.stdout).entriesChecked).toBeGreaterThanOrEqual(size);
    tell(database, size, { serverMb, exported, verified, again });
    if (tellsPeaks) {
      expect(serverMb).toBeLessThan(MOST_MB.server);
      for (const { peakMb } of [exported, verified]) expect(peakMb).toBeLessThan(MOST_MB.command);
      expect(again.peakMb).toBeLessThan(MOST_MB.second);
    }
    expect(await server.stop(), server.log()).toBe(0);
    rmSync(file);
  }
}

interface Seen extends Record<"exported" | "verified" | "again", RanToEnd> {
  serverMb: number;
}

function tell(database: string, size: number, { serverMb, exported, verified, again }: Seen): void {
  if (!proving) return;
  const of = ({ peakMb, seconds }: RanToEnd) => `${Math.round(peakMb)} MB, ${Math.round(seconds)} s`;
  process.stdout.write(
    `${size} entries on ${database}: server ${Math.round(serverMb)} MB; export ${of(exported)}; verify ${of(verified)}; second verifier ${of(again)}\n`,
  );
}
