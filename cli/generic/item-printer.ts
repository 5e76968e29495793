import { quoted } from "../errors/commands-to-type.ts";
import { formatOf, isForPrograms, printResult } from "../output/print.ts";
import { OutputError } from "../shell.ts";
import type { Invocation } from "./invocation.ts";
import { type ItemOutcome, outcomeColumns, outcomeFields, rowOf } from "./item-outcome.ts";
import { maskSecrets } from "./minted.ts";
import { secretTexts, topSecrets } from "./secret-fields.ts";

/** Prints what became of the entries of a list: with --ndjson each as soon as it is done, else all at the end. */
export interface ItemPrinter {
  /** Never fails for a pipe that was closed: that must not stop the work, and is told at the end. */
  item(one: ItemOutcome): Promise<void>;
  end(outcomes: readonly ItemOutcome[]): Promise<void>;
}

export function itemPrinter({ context, spec }: Invocation): ItemPrinter {
  const streams = formatOf(context) === "ndjson";
  let closed: OutputError | undefined;
  return {
    item: async (one) => {
      await maskSecrets(context, secretTexts(spec, one.result));
      if (!streams || closed !== undefined) return;
      await printResult(context, one, { fields: outcomeFields }).catch((error: unknown) => {
        if (!(error instanceof OutputError)) throw error;
        closed = error;
      });
    },
    end: async (outcomes) => {
      if (closed !== undefined) throw closed;
      if (!streams) await printAll(context, spec, outcomes);
      await sayCounts(context, outcomes);
    },
  };
}

type Run = Pick<Invocation, "context" | "spec">;

async function printAll(context: Run["context"], spec: Run["spec"], outcomes: readonly ItemOutcome[]): Promise<void> {
  if (isForPrograms(context)) return printResult(context, outcomes, { fields: outcomeFields });
  const columns = outcomeColumns(spec);
  // After Ctrl-C entries that were not tried are counted, not listed: a person looks for what failed.
  const left = context.shell.signal.aborted;
  const listed = outcomes.filter(({ outcome }) => !left || outcome !== "skipped");
  const keep = ["outcome", "name", ...topSecrets(spec), "message"];
  const rows = listed.map((one) => rowOf(spec, one));
  await printResult(context, rows, { fields: columns, columns, keep });
}

async function sayCounts(context: Run["context"], outcomes: readonly ItemOutcome[]): Promise<void> {
  const count = (outcome: ItemOutcome["outcome"]) => outcomes.filter((one) => one.outcome === outcome).length;
  const parts = [`${count("done")} of ${outcomes.length} done`];
  if (count("exists") > 0) parts.push(`${count("exists")} there already`);
  if (count("failed") > 0) parts.push(`${count("failed")} failed`);
  if (count("skipped") > 0) parts.push(`${count("skipped")} not tried`);
  await context.notice(parts.join(", "));
  if (context.shell.signal.aborted && count("skipped") > 0)
    await context.notice(`Interrupted. What was done stays; go on with: ${goOn(context)}`);
}

/** The very command again; what has no file is typed or piped again. */
function goOn({ globals: { typed } }: Invocation["context"]): string {
  const piped = typed.some((word, at) => /^(-f|--file)$/.test(word) && typed[at + 1] === "-") || typed.includes("-f-");
  return `\`${["rmm", ...typed].map(quoted).join(" ")}\`${piped ? ", with the same input" : ""}`;
}
