import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { seedTenant } from "#fixtures/world";
import { bootstrap } from "#server/bootstrap";
import { databases } from "../harness.ts";
import { provenOn } from "../proving.ts";
import { install } from "./processes.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PROMISED_MS = 1_000;

/** Counts uses of one key, and prints how many it has counted when: `<ms> <uses>`. Runs until it is killed. */
const counter = `
import { buildServices } from "#server/app";
import { readConfig } from "#server/config";
const [keyId, keyHash] = process.argv.slice(1);
const { keyUsage, clock } = buildServices(readConfig(process.env));
let uses = 0;
setInterval(() => {
  keyUsage.count({ kind: "apiKey", keyId, keyHash }, clock.now());
  uses += 1;
  process.stdout.write(Date.now() + " " + uses + "\\n");
}, 5);
`;

it.each(provenOn(databases, "postgres"))(
  "kill -9 loses no use of a key that is older than a second, on %s",
  { timeout: 120_000 },
  async (database) => {
    const installation = await install(database, { migrated: true });
    try {
      await installation.services.store.migrate();
      await bootstrap(installation.services);
      const { apiKeyId } = await seedTenant(installation.db, installation.services, "acme");
      const key = () =>
        installation.db
          .selectFrom("apiKeys")
          .select(["keyHash", "usageCount"])
          .where("id", "=", apiKeyId)
          .executeTakeFirstOrThrow();
      const before = await key();
      const child = spawn(process.execPath, ["--input-type=module", "-e", counter, apiKeyId, before.keyHash], {
        cwd: ROOT,
        env: { PATH: process.env["PATH"] ?? "", ...installation.env },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const gone = once(child, "exit");
      let printed = "";
      child.stdout.on("data", (chunk: Buffer) => {
        printed += chunk.toString();
      });
      while (!printed.includes(" 600\n") && child.exitCode === null)
        await new Promise((resolve) => setTimeout(resolve, 20));
      const killedMs = Date.now();
      child.kill("SIGKILL");
      await gone;
      const counted = printed
        .split("\n")
        .slice(0, -1)
        .map((line) => line.split(" ").map(Number) as [number, number]);
      const [, old] = counted.findLast(([atMs]) => atMs <= killedMs - PROMISED_MS) ?? [0, 0];
      expect(old).toBeGreaterThan(100);
      const kept = (await key()).usageCount - before.usageCount;
      expect(kept).toBeGreaterThanOrEqual(old);
      expect(kept).toBeLessThanOrEqual(counted.at(-1)?.[1] ?? 0);
    } finally {
      await installation.remove();
    }
  },
);
