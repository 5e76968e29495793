import { setMaxListeners } from "node:events";
import { processShell, writeTo } from "./shell.ts";
import { version } from "./version.ts";

/** The whole process: streams, signals, exit code. `--version` alone loads nothing else. */
export async function start(argv: readonly string[]): Promise<void> {
  const interrupt = new AbortController();
  const shell = processShell(interrupt.signal);
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
    process.exitCode = await writeTo(shell, "stdout", `${version}\n`).then(() => 0, failedToWrite);
    return;
  }
  // Each call in flight listens, and waits beside it.
  setMaxListeners(0, interrupt.signal);
  // Ctrl-C; a pipeline that is cancelled and a supervisor send SIGTERM.
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      if (interrupt.signal.aborted) process.exit(130);
      interrupt.abort();
    });
  }
  const [{ main }, { crash }] = await Promise.all([import("./main.ts"), import("./crash.ts")]);
  process.on("uncaughtException", (error) => void crash(shell, argv, error).then((code) => process.exit(code)));
  // Applies if the process ends first, for example at end of file in a prompt.
  process.exitCode = 130;
  process.exitCode = await main(shell, argv);
}

/** A reader that closes the pipe is not a failure. */
function failedToWrite(error: Error & { code?: string }): number {
  if (error.code === "EPIPE") return 0;
  process.stderr.write(`rmm: ${error.message}\n`);
  return 1;
}
