import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { lfLines } from "#server/audit/lf-lines";
import { openContext } from "../../context.ts";
import { exitCode } from "../../errors/exit-codes.ts";
import { commands } from "../../generated/audit-logs.ts";
import { runEndpoint } from "../../generic/run-endpoint.ts";
import { formatOf } from "../../output/print.ts";
import type { Run } from "../../register.ts";
import { type Shell, writeTo } from "../../shell.ts";
import { incomplete, nodeBody, watchBundle } from "./bundle-stream.ts";

/**
 * `rmm audit-logs bundle` writes lines as they come: a chain may be longer than any text. Only --json and --jq, which
 * take it as one text, hold it whole.
 */
export const extendBundle = (group: Command, run: Run): void => {
  const command = group.commands.find((one) => one.name() === "bundle")!;
  const spec = commands.find((one) => one.name === "bundle")!;
  command
    .addHelpText("after", "\nTo a file, packed and checked:\n  rmm audit export --bundle FILE.ndjson.gz\n")
    .action(() =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals);
        const given = { args: [], options: command.opts() };
        const isText = ["json", "jq"].includes(formatOf(context));
        const stream = (body: ReadableStream<Uint8Array>) => pour(shell, body);
        return runEndpoint(context, spec, isText ? given : { ...given, stream });
      }),
    );
};

const PART = 64 * 1024;

async function pour(shell: Shell, body: ReadableStream<Uint8Array>): Promise<number> {
  const { through, passed } = watchBundle();
  const write = async (chunks: AsyncIterable<Buffer>) => {
    let part = "";
    for await (const line of lfLines(chunks)) {
      part += `${line}\n`;
      if (part.length < PART) continue;
      await writeTo(shell, "stdout", part);
      part = "";
    }
    await writeTo(shell, "stdout", part);
  };
  try {
    await pipeline(nodeBody(body), through, write);
    passed.requireWhole();
  } catch (error) {
    throw incomplete(error);
  }
  return exitCode("ok");
}
