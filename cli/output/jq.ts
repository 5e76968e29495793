import { CliError, usageError } from "../errors/cli-error.ts";

const isNotJq = (message: string): boolean => /compile error|syntax error/.test(message);

/** Each run leaves something in the library's memory, which in the end fails: none is made twice. */
const sound = new Set<string>();

/** Refuses an expression that does not compile: no input, so nothing of it runs. */
export async function checkJq(expression: string): Promise<void> {
  if (sound.has(expression)) return;
  const { raw } = await import("jq-wasm");
  try {
    await raw("", expression, ["-r"]);
    sound.add(expression);
  } catch (error) {
    const message = error instanceof Error ? error.message.trim() : "";
    if (isNotJq(message)) throw usageError(`--jq: ${message.split("\n")[0]}`, "Nothing was sent");
  }
}

/**
 * An expression runs in one piece, which may have no end, and no listener is called meanwhile: Ctrl-C and SIGTERM end
 * the process as they do one that does not listen.
 */
async function endedBySignals<R>(work: () => Promise<R>): Promise<R> {
  const heard = (["SIGINT", "SIGTERM"] as const).map((name) => ({ name, listeners: process.rawListeners(name) }));
  for (const { name } of heard) process.removeAllListeners(name);
  try {
    return await work();
  } finally {
    for (const { name, listeners } of heard)
      for (const listener of listeners) process.on(name, listener as NodeJS.SignalsListener);
  }
}

/** Runs a jq expression over a value, in this process; strings come out raw, everything else as JSON. */
export async function runJq(value: unknown, expression: string): Promise<string> {
  const { raw } = await import("jq-wasm");
  try {
    const text = await endedBySignals(() => raw(JSON.stringify(value ?? null), expression, ["-r"]));
    return text === "" ? "" : `${text.replace(/\n$/, "")}\n`;
  } catch (error) {
    const message = error instanceof Error ? error.message.trim() : "";
    if (isNotJq(message)) throw usageError(`--jq: ${message.split("\n")[0]}`);
    throw new CliError(`--jq: ${message.split("\n")[0]}`, { exit: "failure", code: "JQ_FAILED", cause: error });
  }
}
