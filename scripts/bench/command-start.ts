import { spawn } from "node:child_process";
import type { Bench } from "./bench.ts";
import { started, type Target } from "./target.ts";

const TIMES = 15;

/** `rmm` against bare Node, milliseconds, alternately. */
export const commandStart: readonly Bench[] = [start("--version", 1.2), start("--help", 1.3), organizationsList()];

function start(flag: string, value: number): Bench {
  return {
    name: `rmm ${flag} ÷ node -e 0`,
    limit: { kind: "max", value },
    run: () => inTurns(["bin/rmm.js", flag], {}),
  };
}

/** One page over loopback from a real server, as a pipe reads it. */
function organizationsList(): Bench {
  let server: Target | undefined;
  return {
    name: "rmm organizations list ÷ node -e 0",
    limit: { kind: "max", value: 1.6 },
    async start() {
      server = await started("read-server", []);
    },
    run: () =>
      inTurns(["bin/rmm.js", "organizations", "list"], { RMM_SERVER: server?.url, RMM_TOKEN: server?.token, CI: "1" }),
    async stop() {
      server?.process.kill("SIGTERM");
    },
  };
}

async function inTurns(command: readonly string[], env: Record<string, string | undefined>) {
  const [rmm, bare]: [number[], number[]] = [[], []];
  for (let time = 0; time < TIMES; time += 1) {
    bare.push(await timed(["-e", "0"], {}));
    rmm.push(await timed(command, env));
  }
  return { measured: middle(rmm), against: middle(bare), unit: "ms" };
}

/** Not `spawnSync`, which would block the server's output. */
function timed(args: readonly string[], env: Record<string, string | undefined>): Promise<number> {
  const start = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => {
      if (code === 0) resolve(performance.now() - start);
      else reject(new Error(`node ${args.join(" ")} ended with ${code}`));
    });
  });
}

const middle = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
