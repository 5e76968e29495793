import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
// A relative import, because vitest loads the global setup without the `source` condition.
import { type PostgresCluster, startPostgres } from "../../fixtures/postgres.ts";

/**
 * Vitest global setup: a starter that brings up the shared Postgres on the first request of a test file, so that a
 * run without Postgres tests pays nothing and no run starts two.
 */
export async function setup(): Promise<() => Promise<void>> {
  let cluster: Promise<PostgresCluster> | undefined;
  process.env["RMM_TEST_RUN"] = randomBytes(6).toString("hex");
  const starter = createServer((_request, response) => {
    cluster ??= startPostgres();
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
    rmSync(join(tmpdir(), `rmm-migrated-${process.env["RMM_TEST_RUN"]}.db`), { force: true });
  };
}
