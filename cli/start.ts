import { processShell, writeTo } from "./shell.ts";
import { version } from "./version.ts";

/** The whole process: streams, Ctrl-C, exit code. `--version` alone loads nothing else. */
export async function start(argv: readonly string[]): Promise<void> {
  const interrupt = new AbortController();
  const shell = processShell(interrupt.signal);
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
    await writeTo(shell, "stdout", `${version}\n`).catch(() => undefined);
    return;
  }
  process.on("SIGINT", () => {
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort();
  });
  const { main } = await import("./main.ts");
  process.exitCode = await main(shell, argv);
}
