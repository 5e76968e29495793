import { usageError } from "../errors/cli-error.ts";
import { type Described, describeError } from "../errors/describe-error.ts";
import { exitCode } from "../errors/exit-codes.ts";
import { exitOfItems } from "../errors/exit-of-items.ts";
import { explained } from "../errors/explain.ts";
import type { CommandSpec } from "../manifest.ts";
import { withSpinner } from "../output/spinner.ts";
import { PER_MINUTE } from "../provisioning/budget.ts";
import { inParallel } from "../provisioning/in-parallel.ts";
import { paced } from "../provisioning/sender.ts";
import { renewingOf } from "./commands-of.ts";
import { existingRows } from "./existing.ts";
import type { Invocation } from "./invocation.ts";
import { itemKeys } from "./item-keys.ts";
import { aboutOf, type ItemOutcome } from "./item-outcome.ts";
import { itemPrinter } from "./item-printer.ts";
import { openSecretDir } from "./secret-dir.ts";
import { endingOf } from "./secret-fields.ts";
import { clientFor } from "./send.ts";
import { sendItem, type Tools } from "./send-item.ts";

/** Failures that would also affect the next item; a secret that could not be kept is another. */
const hopeless = new Set<Described["exit"]>(["unauthenticated", "interrupted", "tryLater"]);

const endsRun = ({ exit, error }: Described, { inOrder = false }: Invocation["given"]): boolean =>
  inOrder || hopeless.has(exit) || error.code === "SECRET_LOST";

/** Sends the entries of a list and reports each. Exit 9 when some failed and some did not. */
export async function runItems(invocation: Invocation): Promise<number> {
  const { context, spec, drafts } = invocation;
  const width = concurrencyOf(invocation);
  const outcomes: ItemOutcome[] = new Array(drafts.length);
  const failures: Described[] = [];
  const printer = itemPrinter(invocation);
  await withSpinner(context, spec.summary, async ({ say }) => {
    const tools = await toolsOf(invocation);
    const keys = await itemKeys(invocation);
    await inParallel(
      drafts,
      async (draft, at) => {
        say(`${spec.summary}: ${at + 1} of ${drafts.length}`);
        const about = aboutOf(invocation, draft);
        if (failures.some((failure) => endsRun(failure, invocation.given))) {
          outcomes[at] = { outcome: "skipped", ...about };
          return printer.item(outcomes[at]);
        }
        try {
          const { outcome, ...sent } = await sendItem(invocation, tools, { draft, about, keys: keys[at] ?? [] });
          outcomes[at] = { outcome, ...about, ...sent };
        } catch (error) {
          const described = await explained(describeError(error), error, context.globals.org);
          failures.push(described);
          outcomes[at] = { outcome: "failed", ...about, error: described.error };
        }
        await printer.item(outcomes[at]);
      },
      width,
    );
  });
  await printer.end(outcomes);
  const hidden = outcomes.filter(({ outcome, note }) => outcome === "exists" && note !== undefined).length;
  if (hidden > 0) await context.notice(`Without a secret: ${hidden}, each with the reason${await renewalOf(spec)}`);
  const count = (outcome: ItemOutcome["outcome"]) => outcomes.filter((one) => one.outcome === outcome).length;
  return exitCode(
    exitOfItems({
      done: count("done") + count("exists"),
      failed: failures.map(({ exit }) => exit),
      skipped: count("skipped"),
      interrupted: context.shell.signal.aborted,
    }),
  );
}

async function renewalOf({ noun }: CommandSpec): Promise<string> {
  const renewing = await renewingOf(noun);
  return renewing === undefined ? "" : `. \`rmm ${noun} ${renewing.name} <id>\` makes a new one`;
}

const CONCURRENCY_MAX = 16;

function concurrencyOf({ given }: Invocation): number {
  const text = (given.options["concurrency"] as string | undefined) ?? "1";
  const width = Number(text);
  if (/^\d{1,2}$/.test(text) && width >= 1 && width <= CONCURRENCY_MAX) return width;
  throw usageError(`--concurrency must be a whole number from 1 to ${CONCURRENCY_MAX}`);
}

async function toolsOf(invocation: Invocation): Promise<Tools> {
  const { context, spec, given } = invocation;
  const { shell } = context;
  const dir = given.options["secretDir"] as string | undefined;
  const onWait = (ms: number, why: string) => void context.notice(`Waiting ${Math.ceil(ms / 1000)} s: ${why}`);
  return {
    client: await clientFor(context, spec),
    sender: paced({ perMinute: PER_MINUTE, signal: shell.signal, sleep: shell.sleep, onWait }),
    existing: existingRows(invocation),
    secrets: dir === undefined ? undefined : await openSecretDir(context, dir, endingOf(spec)),
  };
}
