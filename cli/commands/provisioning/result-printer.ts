import type { Context } from "../../context.ts";
import { completed, type Given } from "../../errors/commands-to-type.ts";
import { requireShown, SECRET } from "../../generic/secret-shown.ts";
import { isColoured } from "../../output/colour.ts";
import { ownSequence } from "../../output/escape.ts";
import { checkFields, formatOf, isForPrograms, printAndTell } from "../../output/print.ts";
import { wrapWords } from "../../output/wrap.ts";
import { resultRow, resultText, summaryOf } from "../../provisioning/apply-view.ts";
import { type Budget, counted } from "../../provisioning/budget.ts";
import type { ItemResult } from "../../provisioning/item-result.ts";
import type { Note } from "../../provisioning/note.ts";
import { orderedSteps } from "../../provisioning/order.ts";
import type { Plan } from "../../provisioning/plan.ts";
import { noteView } from "../../provisioning/plan-view.ts";
import { OutputError, writeTo } from "../../shell.ts";

export interface ResultPrinter {
  /** Prints one result as soon as it is there. Never fails: a closed pipe must not stop the work. */
  item(result: ItemResult): Promise<void>;
  end(results: readonly ItemResult[], more: { budget: Budget; notes: readonly Note[]; none: boolean }): Promise<void>;
}

/** Below what a result is about, behind its outcome. */
const RESULT_HANG = 10;

const shape = { fields: ["summary", "budget", "items", "notes"] };

/** Refuses before anything is changed what would print the result without the secrets that it is to carry. */
export async function checkResultFields(context: Context, plan: Plan): Promise<void> {
  checkFields(context.globals, shape);
  if (!isForPrograms(context) || !hasStdoutSecrets(plan)) return;
  const item = {
    outcome: "done",
    action: "create",
    kind: "enrollmentKey",
    key: "a/b",
    organization: "a",
    secret: SECRET,
  };
  const called = { ...item, id: "id", changes: [], item: { line: 1, name: "b" }, sink: "stdout" };
  const sample = { summary: {}, budget: {}, items: [called], notes: [] };
  const hint = "Choose items too, or give the keys files";
  await requireShown(context, { secrets: ["items", "items.secret"], sample, hint });
}

const hasStdoutSecrets = (plan: Plan): boolean =>
  plan.organizations.some(({ keys }) => keys.some(({ key }) => key?.sink?.kind === "stdout"));

/** Results go to stdout, unless a secret has it for itself; progress goes to a stderr that someone watches. */
export function resultPrinter(context: Context, plan: Plan): ResultPrinter {
  const { shell, globals } = context;
  const format = formatOf(context);
  const stream = hasStdoutSecrets(plan) && (format === "table" || format === "tsv") ? "stderr" : "stdout";
  const total = plan.organizations.reduce((sum, one) => sum + orderedSteps(one).length, 0);
  let count = 0;
  const progress = async (text: string) => {
    if (shell.isTty.stderr && !shell.isTty.stdout && !globals.quiet)
      await writeTo(shell, "stderr", `${ownSequence(1, "G")}${text}`);
  };
  const write = async (text: string) => {
    try {
      await writeTo(shell, stream, text);
    } catch (error) {
      if (!(error instanceof OutputError)) throw error;
    }
  };
  return {
    item: async (made) => {
      const result = withCompleteHint(made, globals.given);
      count++;
      if ((format === "table" || format === "tsv") && isLeftByInterrupt(result)) return;
      if (format === "ndjson") await write(`${JSON.stringify(result)}\n`);
      if (format === "table") {
        const line = resultText(result, { coloured: isColoured(shell, stream) }).trimEnd();
        await write(`${wrapWords(line, shell.columns, RESULT_HANG)}\n`);
      }
      if (format === "tsv")
        await write(stream === "stderr" ? resultText(result, { coloured: false }) : resultRow(result));
      await progress(`${count} of ${total}`);
    },
    end: async (results, { budget, notes, none }) => {
      if (count > 0) await progress("\n");
      if (format === "json" || format === "jq") {
        const value = {
          summary: summaryOf(results, notes),
          budget,
          items: results.map((one) => withCompleteHint(one, globals.given)),
          notes: notes.map(noteView),
        };
        const printed = await printAndTell(context, value, shape).catch((error: unknown) => {
          if (error instanceof OutputError) return "";
          throw error;
        });
        const lost = results.filter(({ secret }) => secret !== undefined && !printed.includes(secret));
        if (lost.length > 0)
          await context.notice(`${counted(lost.length, "secret")} not printed: --redeliver fetches them within a day`);
      } else if (none && format !== "ndjson") await write("no changes\n");
    },
  };
}

/** After Ctrl-C they are counted, not listed: a person looks for what failed. */
const isLeftByInterrupt = ({ outcome, error }: ItemResult): boolean =>
  outcome === "skipped" && error?.code === "INTERRUPTED";

function withCompleteHint(result: ItemResult, given: Given): ItemResult {
  const { error } = result;
  return error?.hint === undefined ? result : { ...result, error: { ...error, hint: completed(error.hint, given) } };
}
