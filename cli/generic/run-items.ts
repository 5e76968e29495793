import type { RmmClient } from "#sdk/client";
import type { Context } from "../context.ts";
import { type Described, describeError } from "../errors/describe-error.ts";
import { exitCode } from "../errors/exit-codes.ts";
import type { CommandSpec } from "../manifest.ts";
import { formatOf, isForPrograms, printResult } from "../output/print.ts";
import { withSpinner } from "../output/spinner.ts";
import type { Draft, Invocation } from "./invocation.ts";
import { maskSecrets, topSecrets } from "./minted.ts";
import { clientFor, send } from "./send.ts";

interface Outcome {
  item: number;
  outcome: "done" | "failed" | "skipped";
  result?: unknown;
  error?: Described["error"];
}

/** Failures after which the next item cannot fare better. */
const hopeless = new Set<Described["exit"]>(["unauthenticated", "interrupted", "tryLater"]);

/** Sends the entries of a list one after the other and reports each. Exit 9 when some failed and some did not. */
export async function runItems(invocation: Invocation): Promise<number> {
  const { context, spec } = invocation;
  const { outcomes, failures } = await withSpinner(context, spec.summary, ({ say }) => sendAll(invocation, say));
  await maskSecrets(
    context,
    outcomes.flatMap(({ result }) => secretsOf(spec, result)),
  );
  await report(context, spec, outcomes);
  return exitOf(outcomes, failures);
}

interface Sent {
  outcomes: Outcome[];
  failures: Described[];
}

async function sendAll({ context, spec, drafts }: Invocation, say: (text: string) => void): Promise<Sent> {
  const client = await clientFor(context, spec);
  const outcomes: Outcome[] = [];
  const failures: Described[] = [];
  for (const [index, draft] of drafts.entries()) {
    const item = index + 1;
    if (failures.some(({ exit }) => hopeless.has(exit))) {
      outcomes.push({ item, outcome: "skipped" });
      continue;
    }
    say(`${spec.summary}: ${item} of ${drafts.length}`);
    try {
      outcomes.push({ item, outcome: "done", result: await sendEntry(client, context, spec, { draft, item }) });
    } catch (error) {
      const described = describeError(error);
      failures.push(described);
      outcomes.push({ item, outcome: "failed", error: described.error });
    }
  }
  return { outcomes, failures };
}

async function sendEntry(
  client: RmmClient,
  context: Context,
  spec: CommandSpec,
  { draft, item }: { draft: Draft; item: number },
): Promise<unknown> {
  if (draft.failure !== undefined) throw draft.failure;
  return send(client, context, spec, draft, item);
}

const secretsOf = (spec: CommandSpec, result: unknown): string[] =>
  topSecrets(spec).flatMap((name) => {
    const value = (result as Record<string, unknown> | undefined)?.[name];
    return typeof value === "string" ? [value] : [];
  });

async function report(context: Context, spec: CommandSpec, outcomes: readonly Outcome[]): Promise<void> {
  // After Ctrl-C a person looks for what failed: what was not tried is counted, not listed.
  const left = formatOf(context) === "table" && context.shell.signal.aborted;
  const listed = outcomes.filter(({ outcome }) => !left || outcome !== "skipped");
  const rows = isForPrograms(context) ? outcomes : listed.map((one) => rowOf(spec, one));
  const columns = ["item", "outcome", "id", "name", ...topSecrets(spec), "message"];
  await printResult(context, rows, { fields: [], columns, keep: ["name", ...topSecrets(spec), "message"] });
  const count = (outcome: Outcome["outcome"]) => outcomes.filter((one) => one.outcome === outcome).length;
  const parts = [`${count("done")} of ${outcomes.length} done`];
  if (count("failed") > 0) parts.push(`${count("failed")} failed`);
  if (count("skipped") > 0) parts.push(`${count("skipped")} not tried`);
  await context.notice(parts.join(", "));
}

function rowOf(spec: CommandSpec, { item, outcome, result, error }: Outcome): Record<string, unknown> {
  const done = (result ?? {}) as Record<string, unknown>;
  const label = done["name"] ?? done["email"] ?? done["slug"];
  const secrets = Object.fromEntries(topSecrets(spec).map((name) => [name, done[name]]));
  const message = error === undefined ? undefined : `${error.code}: ${error.message}${issuesOf(error.details)}`;
  return { item, outcome, id: done["id"], name: label, ...secrets, message };
}

const issuesOf = (details: unknown): string =>
  Array.isArray(details)
    ? ` (${details.map((one: { path?: string; message?: string }) => `${one.path ?? ""} ${one.message ?? ""}`.trim()).join("; ")})`
    : "";

function exitOf(outcomes: readonly Outcome[], failures: readonly Described[]): number {
  if (failures.length === 0) return exitCode("ok");
  if (failures.some(({ exit }) => exit === "interrupted")) return exitCode("interrupted");
  if (failures.some(({ exit }) => exit === "unknown")) return exitCode("unknown");
  if (outcomes.some(({ outcome }) => outcome === "done")) return exitCode("partial");
  const kinds = new Set(failures.map(({ exit }) => exit));
  return exitCode(kinds.size === 1 ? failures[0]!.exit : "failure");
}
