import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Script } from "node:vm";

/**
 * Writes the code cache of the files that a list and a help page load, beside them: runs the command once against a
 * server that has nothing, so that the cache has the functions that were needed too. Run by the bundling, in a process
 * of its own.
 */
const page = JSON.stringify({ data: [], pagination: { page: 1, limit: 50, total: 0 } });
const server = createServer((_request, response) => {
  response.setHeader("content-type", "application/json");
  response.end(page);
});
server.listen(0, "127.0.0.1", () => {
  server.unref();
  const { port } = server.address() as AddressInfo;
  Object.assign(process.env, {
    CI: "1",
    RMM_SERVER: `http://127.0.0.1:${port}`,
    RMM_TOKEN: "none",
    RMM_CONFIG_DIR: join(tmpdir(), "rmm-code-cache-none"),
  });
  process.argv.splice(2, Number.POSITIVE_INFINITY, "organizations", "list");
  const bin = fileURLToPath(new URL("../bin/rmm.js", import.meta.url));
  const scripts = createRequire(import.meta.url)(bin) as ReadonlyMap<string, Script>;
  process.on("exit", (code) => {
    if (code !== 0) throw new Error(`the command ended with ${code}`);
    for (const [file, script] of scripts) writeFileSync(`${file}.cache`, script.createCachedData());
  });
});
