import { resolve } from "node:path";
import type { Command } from "commander";
import { systemReason } from "#sdk/node/system-reason";
import type { Context } from "../../context.ts";
import { CliError, missingInput, usageError } from "../../errors/cli-error.ts";
import { instantOf } from "../../generic/field-value.ts";
import { ambiguousName, areApart, sameName } from "../../generic/name-errors.ts";
import type { Journal, Rotation } from "../../keys/journal.ts";
import type { ListedKey } from "../../keys/listed-key.ts";
import type { RotationItem } from "../../keys/rotate-keys.ts";
import { isOccupied, type RotationSink, rotationPath, rotationSinkText } from "../../keys/secret-sink.ts";
import { selectKeys } from "../../keys/select-keys.ts";
import { isForPrograms } from "../../output/print.ts";
import { probeSecretFile } from "../../provisioning/secret-file.ts";
import { addFilterOptions, type FilterOptions, filterOf, type Scope } from "./filters.ts";

export interface RotateOptions extends FilterOptions {
  secretDir?: string;
  secretFile?: string;
  secretCommand?: string;
  githubOutput?: string;
  expiresIn?: string;
  journal?: string;
  resume?: boolean;
}

export function addRotateOptions(command: Command): void {
  addFilterOptions(command);
  command
    .option("--secret-dir <path>", "write each new secret to a file of its own in this folder, only you can read it")
    .option("--secret-file <path>", "write the new secret of one key to a new file only you can read")
    .option("--secret-command <command>", "run this shell command for each key, with the new secret on its stdin")
    .option("--github-output <name>", "write the new secret of one key to GITHUB_OUTPUT under this name")
    .option("--expires-in <time>", "new end of enrollment keys: 30d from now, or a date; other keys keep theirs")
    .option("--journal <path>", "where to note what was begun (default: in the configuration folder)")
    .option("--resume", "only finish what an earlier run began");
}

/** Refuses what cannot be meant before anything is sent. */
export function checkRotateOptions({ globals }: Context, ids: readonly string[], options: RotateOptions): void {
  const { expiring, olderThan, resume, secretDir, secretFile, secretCommand, githubOutput } = options;
  const filtered = expiring !== undefined || olderThan !== undefined;
  const chosen = ids.length > 0 || filtered || globals.all || resume === true;
  if (!chosen) {
    throw missingInput(
      ["<id> or --older-than or --expiring or --all or --resume"],
      "See first what there is: `rmm keys list --older-than 90d`",
    );
  }
  if (ids.length > 0 && (filtered || globals.all)) throw usageError("Give ids or a filter, not both");
  const sinks = [secretDir, secretFile, secretCommand, githubOutput].filter((one) => one !== undefined);
  if (sinks.length > 1) throw usageError("Secrets can be written to one place only: give one of the --secret-… flags");
  if (globals.idempotencyKey !== undefined) {
    throw usageError("--idempotency-key has no use here: the journal keeps one for each key");
  }
}

export interface RotationPlan {
  readonly items: readonly RotationItem[];
  /** Of the same keys, as far as they are still listed. */
  readonly keys: ReadonlyMap<string, ListedKey>;
  readonly passedOver: number;
}

/** What an earlier run left unfinished comes first, then what is chosen now. */
export function planRotation(
  context: Context,
  keys: readonly ListedKey[],
  ids: readonly string[],
  options: RotateOptions,
  { journal, scope }: { journal: Journal; scope: Scope },
): RotationPlan {
  const { partnerId } = scope;
  const isBegun = (key: ListedKey) => journal.unfinished.some((rotation) => isOf(rotation, key));
  const chosen = options.resume ? [] : chosenKeys(keys, ids, options, context).filter((key) => !isBegun(key));
  const working = ids.length > 0 ? chosen : chosen.filter(({ status }) => status === "active");
  const able = working.slice(0, context.globals.limit);
  const sinkOf = sinkFor(context, options, journal.unfinished.length + able.length);
  const expiresAt = newEnd(options, context.shell.now());
  const items = [
    ...journal.unfinished.map((rotation): RotationItem => {
      const { idempotencyKey: _key, startedAt: _at, ...about } = rotation;
      return { ...about, sink: sinkOf(rotation), resumed: rotation };
    }),
    ...able.map(({ kind, id, principalId, name, organization }): RotationItem => {
      const about = { kind, id, principalId, name, organization };
      return {
        ...about,
        ...(partnerId !== undefined && kind === "partner-key" ? { partnerId } : {}),
        ...(expiresAt !== undefined && kind === "enrollment-key" ? { expiresAt } : {}),
        sink: sinkOf(about),
      };
    }),
  ];
  return { items, keys: new Map(keys.map((key) => [key.id, key])), passedOver: chosen.length - working.length };
}

/** Whether an unfinished rotation is of this key, or produced it: the rotation's result would then be replaced. */
function isOf({ kind, id, principalId, name }: Rotation, key: ListedKey): boolean {
  if (kind !== key.kind) return false;
  if (id === key.id) return true;
  if (kind === "service-principal") return principalId === key.principalId;
  return kind === "partner-key" && principalId === key.principalId && name === key.name;
}

/** Used up enrollment keys are chosen by id only: a rotation would let as many devices in again. */
function chosenKeys(
  keys: readonly ListedKey[],
  ids: readonly string[],
  options: RotateOptions,
  { shell }: Context,
): ListedKey[] {
  if (ids.length === 0) return selectKeys(keys, filterOf(options), shell.now());
  const found = ids.map((id) => ({
    id,
    key: keys.find((one) => one.id === id) ?? keys.find((one) => isKeyOf(one, id)) ?? keyCalled(keys, id),
  }));
  const unknown = found.filter(({ key }) => key === undefined).map(({ id }) => id);
  if (unknown.length > 0) {
    throw new CliError(`There is no such key: ${unknown.join(", ")}`, {
      exit: "notFound",
      code: "NOT_FOUND",
      hint: "`rmm keys list` shows what there is. Nothing was rotated",
    });
  }
  return [...new Set(found.map(({ key }) => key as ListedKey))];
}

/** The key of this name that works, else the one of this name; two of them are refused with both. */
function keyCalled(keys: readonly ListedKey[], name: string): ListedKey | undefined {
  const called = keys.filter((one) => sameName(one.name, name));
  const alive = called.filter(({ status }) => status === "active");
  const found = alive.length > 0 ? alive : called;
  if (found.length < 2) return found[0];
  const lines = found.map((one) => [one.id, one.kind, one.name, one.organization].filter(Boolean).join("  "));
  const byKind = new Set(found.map(({ kind }) => kind)).size > 1;
  throw ambiguousName("key", name, lines, [...(areApart(found) ? ["--org"] : []), ...(byKind ? ["--kind"] : [])]);
}

/** A service principal has one key at most, so its own id will do. */
const isKeyOf = ({ kind, principalId, status }: ListedKey, id: string): boolean =>
  kind === "service-principal" && principalId === id && status === "active";

function sinkFor(
  context: Context,
  { secretDir, secretFile, secretCommand, githubOutput }: RotateOptions,
  count: number,
): (about: Parameters<typeof rotationPath>[1]) => RotationSink {
  if (secretDir !== undefined) return (about) => ({ kind: "file", path: rotationPath(secretDir, about) });
  if (secretCommand !== undefined) return () => ({ kind: "command", command: secretCommand });
  const alone = secretFile ?? githubOutput;
  if (alone !== undefined && count > 1) {
    throw usageError(
      `${secretFile === undefined ? "--github-output" : "--secret-file"} takes one secret, and ${count} keys are chosen`,
      "Give --secret-dir, --secret-command or --json",
    );
  }
  if (secretFile !== undefined) return () => ({ kind: "file", path: secretFile });
  if (githubOutput !== undefined) {
    if (!context.shell.env["GITHUB_OUTPUT"])
      throw usageError("GITHUB_OUTPUT is not set: this is no step of a workflow");
    return () => ({ kind: "github-output", name: githubOutput });
  }
  const { globals } = context;
  if (count > 1 && !isForPrograms(context) && !globals.dryRun) {
    throw missingInput(
      ["--secret-dir or --secret-command"],
      `stdout takes one secret, and ${count} keys are chosen; with --json they are part of the result`,
    );
  }
  if (globals.jsonFields?.includes("secret") === false && !globals.dryRun && count > 0) {
    throw missingInput(
      ["--secret-dir, --secret-file or --secret-command"],
      "Without secret among the fields of --json the new secrets would be nowhere",
    );
  }
  return () => ({ kind: "stdout" });
}

function newEnd({ expiresIn }: RotateOptions, nowMs: number): string | undefined {
  if (expiresIn === undefined) return undefined;
  return instantOf(expiresIn, { source: "--expires-in", nowMs, where: "body" });
}

/**
 * Proves that every file can be written, before anything is rotated. A file of a new secret must not exist. A dry run
 * only looks.
 */
export async function prepareFiles(items: readonly RotationItem[], { dryRun }: { dryRun: boolean }): Promise<void> {
  const problems: { path: string; message: string }[] = [];
  for (const { sink, resumed } of items) {
    if (sink.kind !== "file") continue;
    const path = rotationSinkText(sink);
    if (resumed === undefined && isOccupied(sink)) {
      problems.push({ path, message: "exists, and is never overwritten: move it away, or choose another folder" });
      continue;
    }
    if (dryRun) continue;
    await probeSecretFile(resolve(sink.path)).catch((error: unknown) => {
      problems.push({ path, message: `cannot be written: ${systemReason(error)}` });
    });
  }
  if (problems.length === 0) return;
  throw new CliError("There is nowhere to write a secret to", {
    exit: "usage",
    code: "SINK_UNWRITABLE",
    details: problems,
    hint: "Nothing was rotated",
  });
}
