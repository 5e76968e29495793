import type { RmmClient } from "#sdk/client";
import { getCredential } from "../context.ts";
import { usageError } from "../errors/cli-error.ts";
import { type Described, describeError } from "../errors/describe-error.ts";
import { exitCode } from "../errors/exit-codes.ts";
import { exitOfItems } from "../errors/exit-of-items.ts";
import { explained } from "../errors/explain.ts";
import { withSpinner } from "../output/spinner.ts";
import { idempotencySecret } from "../profile/idempotency-secret.ts";
import { PER_MINUTE } from "../provisioning/budget.ts";
import { type IdempotencyKeys, idempotencyKeysOf } from "../provisioning/idempotency-keys.ts";
import { inParallel } from "../provisioning/in-parallel.ts";
import { paced, type Sender } from "../provisioning/sender.ts";
import { type Existing, existingRows } from "./existing.ts";
import type { Draft, Invocation } from "./invocation.ts";
import { aboutOf, type ItemOutcome } from "./item-outcome.ts";
import { itemPrinter } from "./item-printer.ts";
import { clientFor, send } from "./send.ts";

/** Failures that would also affect the next item. */
const hopeless = new Set<Described["exit"]>(["unauthenticated", "interrupted", "tryLater"]);

interface Tools {
  readonly client: RmmClient;
  readonly sender: Sender;
  readonly existing: Existing;
  /** The idempotency key of each entry; a repeated run uses the same for the same entry. */
  readonly keys: readonly (string | undefined)[];
}

/** Sends the entries of a list and reports each. Exit 9 when some failed and some did not. */
export async function runItems(invocation: Invocation): Promise<number> {
  const { context, spec, drafts } = invocation;
  const width = concurrencyOf(invocation);
  const outcomes: ItemOutcome[] = new Array(drafts.length);
  const failures: Described[] = [];
  const printer = itemPrinter(invocation);
  await withSpinner(context, spec.summary, async ({ say }) => {
    const tools = await toolsOf(invocation);
    await inParallel(
      drafts,
      async (draft, at) => {
        say(`${spec.summary}: ${at + 1} of ${drafts.length}`);
        const about = aboutOf(invocation, draft);
        if (failures.some(({ exit }) => hopeless.has(exit))) {
          outcomes[at] = { outcome: "skipped", ...about };
          return printer.item(outcomes[at]);
        }
        try {
          const { outcome, result } = await outcomeOf(invocation, tools, draft, at);
          outcomes[at] = { outcome, ...about, result };
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

const CONCURRENCY_MAX = 16;

function concurrencyOf({ given }: Invocation): number {
  const text = (given.options["concurrency"] as string | undefined) ?? "1";
  const width = Number(text);
  if (/^\d{1,2}$/.test(text) && width >= 1 && width <= CONCURRENCY_MAX) return width;
  throw usageError(`--concurrency must be a whole number from 1 to ${CONCURRENCY_MAX}`);
}

async function toolsOf(invocation: Invocation): Promise<Tools> {
  const { context, spec } = invocation;
  const { shell } = context;
  const onWait = (ms: number, why: string) => void context.notice(`Waiting ${Math.ceil(ms / 1000)} s: ${why}`);
  return {
    client: await clientFor(context, spec),
    sender: paced({ perMinute: PER_MINUTE, signal: shell.signal, onWait }),
    existing: existingRows(invocation),
    keys: await keysOf(invocation),
  };
}

/**
 * One idempotency key for each entry. Without --idempotency-key it is derived from the request if that creates something:
 * for a day a repeated run gets the answers of the first. A request that replaces a secret is carried out again.
 */
async function keysOf({ context, spec, drafts }: Invocation): Promise<(string | undefined)[]> {
  const given = context.globals.idempotencyKey;
  if (given !== undefined) return drafts.map((_draft, at) => `${given}-${at + 1}`);
  if (!spec.idempotent || spec.loses !== "nothing" || spec.access.kinds.includes("public"))
    return drafts.map(() => undefined);
  const keyOf: IdempotencyKeys = idempotencyKeysOf(
    await idempotencySecret(context.shell, await getCredential(context)),
  );
  const met = new Map<string, number>();
  return drafts.map(({ params, body }) => {
    const text = keyOf([spec.noun, spec.name, params, body]);
    const count = (met.get(text) ?? 0) + 1;
    met.set(text, count);
    return count === 1 ? text : keyOf([text, count]);
  });
}

async function outcomeOf(
  { context, spec }: Invocation,
  { client, sender, existing, keys }: Tools,
  draft: Draft,
  at: number,
): Promise<Pick<ItemOutcome, "outcome" | "result">> {
  if (draft.failure !== undefined) throw draft.failure;
  const row = await existing.find(draft);
  if (row !== undefined) return { outcome: "exists", result: row };
  const key = keys[at];
  const repeatable = key !== undefined || ["PUT", "DELETE"].includes(spec.method);
  const { data, response } = await sender.send(() => send(client, context, spec, draft, key).withResponse(), {
    repeatable,
  });
  const replayed = response.headers.get("idempotency-replayed") === "true";
  return { outcome: replayed ? "exists" : "done", result: data };
}
