import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readConfig } from "#server/config";
import { startServer } from "#server/main";
import { jsonLog } from "#server/platform/log";

it("a server whose port is taken refuses to start and leaves nothing running behind", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "rmm-port-"));
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as AddressInfo;
  const lines: string[] = [];
  const log = jsonLog("warn", (line) => lines.push(line));
  const config = { ...readConfig({ RMM_DATA_DIR: dataDir }), port };
  await expect(startServer({ config, log })).rejects.toMatchObject({ code: "EADDRINUSE" });
  // Jobs poll every second: one that still ran would log an error about the closed database.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(lines).toEqual([]);
  other.close();
  rmSync(dataDir, { recursive: true, force: true });
});
