import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Bench } from "./bench.ts";

const LEFT_OUT = new Set(["node_modules", "dist", ".git"]);

/** Compiles the whole tree without previous results, in seconds. */
export const coldBuild: Bench = {
  name: "cold tsc -b, seconds",
  limit: { kind: "max", value: 15 },
  async run() {
    const copy = mkdtempSync(join(tmpdir(), "rmm-cold-"));
    try {
      cpSync(".", copy, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
      symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
      const start = performance.now();
      await promisify(execFile)(join(copy, "node_modules/.bin/tsc"), ["-b"], { cwd: copy });
      return { measured: (performance.now() - start) / 1_000, against: 1, unit: "s" };
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  },
};
