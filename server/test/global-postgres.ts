import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
// A relative import, because vitest loads the global setup without the `source` condition.
import { type PostgresCluster, startPostgres } from "../../fixtures/postgres.ts";

/** Nobody kills this cluster, and nothing outlives it: it need not be able to recover, nor to copy itself elsewhere. */
const settings = {
  synchronous_commit: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "128MB",
  // Its files are in memory: asking another process to read them takes longer than reading.
  io_method: "sync",
  // Refused statements are what tests are about.
  log_min_messages: "log",
};

/**
 * Vitest global setup: a starter that brings up the shared Postgres on the first request of a test file, so that a
 * run without Postgres tests pays nothing and no run starts two.
 */
export async function setup(): Promise<() => Promise<void>> {
  let cluster: Promise<PostgresCluster> | undefined;
  process.env["RMM_TEST_RUN"] = randomBytes(6).toString("hex");
  const starter = createServer((_request, response) => {
    cluster ??= startPostgres({ settings });
    cluster.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => starter.listen(0, "127.0.0.1", resolve));
  process.env["RMM_TEST_POSTGRES"] = `http://127.0.0.1:${(starter.address() as AddressInfo).port}`;
  return async () => {
    starter.closeAllConnections();
    starter.close();
    await cluster?.then((running) => running.stop()).catch(() => undefined);
    rmSync(join(tmpdir(), `rmm-templates-${process.env["RMM_TEST_RUN"]}`), { recursive: true, force: true });
  };
}
