import { CliError, usageError } from "../errors/cli-error.ts";

/** Runs a jq expression over a value, in this process; strings come out raw, everything else as JSON. */
export async function runJq(value: unknown, expression: string): Promise<string> {
  const { raw } = await import("jq-wasm");
  try {
    const text = await raw(JSON.stringify(value ?? null), expression, ["-r"]);
    return text === "" ? "" : `${text.replace(/\n$/, "")}\n`;
  } catch (error) {
    const message = error instanceof Error ? error.message.trim() : "";
    if (/compile error|syntax error/.test(message)) throw usageError(`--jq: ${message.split("\n")[0]}`);
    throw new CliError(`--jq: ${message.split("\n")[0]}`, { exit: "failure", code: "JQ_FAILED", cause: error });
  }
}
