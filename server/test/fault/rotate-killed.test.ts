import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { auditEntries } from "../audit-entries.ts";
import { type RotationWorld, rotationWorld } from "../e2e/key-rotation-world.ts";
import { databases, startTestServer, type TestServer } from "../harness.ts";
import { moments, startLine } from "./killing-line.ts";
import { exitOf, startRmm } from "./processes.ts";

const MINUTES = 60_000;
const rotations = [
  "api_key.rotate",
  "service_principal.rotate_key",
  "partner_service_principal_key.rotate",
  "enrollment_key.rotate",
] as const;

describe.each(databases)("rmm keys rotate on %s", (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(database);
  });
  afterAll(() => server?.stop());
  const inWorld = async (story: (world: RotationWorld, folder: string) => Promise<void>) => {
    const world = await rotationWorld(server);
    const folder = mkdtempSync(join(tmpdir(), "rmm-rotate-"));
    try {
      await story(world, folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  const rotate = (world: RotationWorld, folder: string, url: string, ...more: string[]) => {
    const argv = ["keys", "rotate", "--older-than", "90d", "--yes", "--json", ...more];
    const child = startRmm(argv, { RMM_SERVER: url, RMM_TOKEN: world.admin.token, RMM_CONFIG_DIR: join(folder, "c") });
    const told = { stdout: "", stderr: "" };
    child.stdout?.on("data", (chunk: Buffer) => (told.stdout += chunk.toString()));
    child.stderr?.on("data", (chunk: Buffer) => (told.stderr += chunk.toString()));
    return { child, told };
  };
  const rotated = async (world: RotationWorld) => {
    await world.server.settled();
    const entries = await Promise.all(rotations.map((action) => auditEntries(world.server, action)));
    return entries.map((found) => found.filter(({ result }) => result === "success").length);
  };

  it(
    "killed -9 at every kind of moment, each key is rotated once and its secret is in its file",
    {
      timeout: 5 * MINUTES,
    },
    async () =>
      inWorld(async (world, folder) => {
        const line = await startLine(world.server);
        const before = await rotated(world);
        let kills = 0;
        try {
          for (;;) {
            const { child, told } = rotate(world, folder, line.url, "--secret-dir", join(folder, "new"));
            line.killAt(1 + (kills % 2), moments[kills % 3] as (typeof moments)[number], child);
            const code = await exitOf(child);
            if (code === 0) break;
            expect(code, `it was not killed but failed: ${told.stderr}`).toBeNull();
            kills += 1;
          }
        } finally {
          await line.stop();
        }
        expect(kills).toBeGreaterThanOrEqual(3);
        const files = readdirSync(join(folder, "new")).filter((name) => name.endsWith(".key"));
        const secrets = files.map((name) => readFileSync(join(folder, "new", name), "utf8").trim());
        const owners = await Promise.all(secrets.map(world.ownerOf));
        expect(owners.map((owner) => owner?.split(" ")[0]).toSorted()).toEqual([
          "api-key",
          "enrollment-key",
          "partner-key",
          "service-principal",
        ]);
        for (const name of readdirSync(join(folder, "new"))) {
          expect(statSync(join(folder, "new", name)).mode & 0o777, name).toBe(0o600);
        }
        const after = await rotated(world);
        expect(after.map((count, index) => count - (before[index] as number))).toEqual([1, 1, 1, 1]);
        expect(readdirSync(join(folder, "c", "rotations")), "a journal in which all is done is removed").toEqual([]);
      }),
  );

  it("Ctrl-C finishes the current key, leaves the others, and prints how to continue", { timeout: MINUTES }, async () =>
    inWorld(async (world, folder) => {
      const keep = `cat >> ${folder}/secrets; touch ${folder}/begun; sleep 0.5`;
      const { child, told } = rotate(world, folder, world.server.url, "--secret-command", keep);
      for (;;) {
        if (readdirSync(folder).includes("begun")) break;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      child.kill("SIGINT");
      expect(await exitOf(child)).toBe(130);
      const outcomes = (JSON.parse(told.stdout) as { outcome: string }[]).map(({ outcome }) => outcome);
      expect(outcomes).toEqual(["done", "skipped", "skipped", "skipped"]);
      const secret = readFileSync(join(folder, "secrets"), "utf8").trim();
      expect(await world.ownerOf(secret)).toBeDefined();
      expect(told.stdout + told.stderr).not.toContain(secret);
      expect(told.stderr).toContain("same command again");
      const again = rotate(world, folder, world.server.url, "--secret-dir", join(folder, "rest"));
      expect(await exitOf(again.child), again.told.stderr).toBe(0);
      expect(readdirSync(join(folder, "rest"))).toHaveLength(3);
    }),
  );
});
