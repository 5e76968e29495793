import { spawnSync } from "node:child_process";
import type { Bench } from "../bench.ts";

const TIMES = 15;

/** `rmm --version` against bare Node, milliseconds, in turns. */
export const versionStart: Bench = {
  name: "rmm --version ÷ node -e 0",
  limit: { kind: "max", value: 1.4 },
  async run() {
    const [rmm, bare]: [number[], number[]] = [[], []];
    for (let time = 0; time < TIMES; time += 1) {
      bare.push(timed(["-e", "0"]));
      rmm.push(timed(["bin/rmm.js", "--version"]));
    }
    return { measured: middle(rmm), against: middle(bare), unit: "ms" };
  },
};

function timed(args: readonly string[]): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`node ${args.join(" ")} failed: ${stderr}`);
  return performance.now() - started;
}

const middle = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
