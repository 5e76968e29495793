import { type FileHandle, open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { systemReason } from "#sdk/node/system-reason";
import type { Context } from "../context.ts";
import { CliError, unwritable } from "../errors/cli-error.ts";
import type { CommandSpec } from "../manifest.ts";
import { cellText } from "../output/cell.ts";
import { isForPrograms, printResult } from "../output/print.ts";
import { writeTo, writeToWorkflow } from "../shell.ts";
import { keptText, sampleSecret, secretTexts, topSecrets } from "./secret-fields.ts";
import { requireShown } from "./secret-shown.ts";

type Result = Record<string, unknown>;

const ownTokens: ReadonlySet<string> = new Set(["accessToken", "refreshToken"]);

/** A file for a secret, made before the secret is: it must not exist, and only its owner can read it. */
export interface SecretFile {
  keep(text: string): Promise<void>;
  /** Takes the empty file away when there is nothing to keep. */
  drop(): Promise<void>;
}

export async function openSecretFile(path: string): Promise<SecretFile> {
  let file: FileHandle;
  try {
    file = await open(path, "wx", 0o600);
  } catch (error) {
    throw unwritable("--secret-file", path, error);
  }
  return {
    keep: async (text) => {
      await file.writeFile(`${text}\n`);
      await file.sync();
      await file.close();
    },
    drop: async () => {
      await file.close();
      await rm(path, { force: true });
    },
  };
}

/** What is said when the secret was made and its file cannot be written. */
interface Loss {
  made: string;
  remedy: string;
}

const lostKey: Loss = { made: "The key was made", remedy: "Rotate the key: it cannot be shown again" };

/** Runs the request that mints a secret and stores the secret. A full disk after minting is reported, not hidden. */
export async function withSecretFile(
  context: Context,
  path: string | undefined,
  work: (file?: SecretFile) => Promise<void>,
  loss = lostKey,
): Promise<void> {
  if (path === undefined) return work();
  const file = await openSecretFile(path);
  let kept = false;
  let lost = false;
  const guarded: SecretFile = {
    ...file,
    keep: async (text) => {
      kept = true;
      await file.keep(text).catch((error: unknown) => {
        lost = true;
        throw new CliError(`${loss.made}, but ${path} could not be written: ${systemReason(error)}`, {
          exit: "failure",
          code: "SECRET_LOST",
          hint: loss.remedy,
        });
      });
    },
  };
  try {
    await work(guarded);
  } finally {
    if (!kept) await file.drop();
    else if (!lost) await context.notice(`Secret written to ${resolve(path)}`);
  }
}

/**
 * Prints a result that holds secrets. One secret: stdout is that and a line end, facts go to stderr. With
 * `--secret-file` stdout stays free of it. Masks for the log of a workflow come before anything else.
 */
export async function printMinted(
  context: Context,
  spec: CommandSpec,
  result: Result,
  file?: SecretFile,
): Promise<void> {
  const own = await keptTokens(context, spec);
  const held =
    file || isForPrograms(context) || context.interactive ? undefined : heldAlready[`${spec.noun} ${spec.name}`];
  const shown = omit(result, held === undefined ? own : new Set([...own, ...held.fields]));
  const names = topSecrets(spec).filter((name) => shown[name] !== undefined && shown[name] !== null);
  await maskSecrets(context, secretTexts(spec, shown));
  if (file) await file.keep(names.length === 1 ? keptText(shown[names[0]!]) : JSON.stringify(pick(shown, names)));
  if (held !== undefined) return context.notice(held.said);
  const open = file ? omit(shown, new Set(names)) : shown;
  const shape = { fields: spec.fields };
  const single = names.length === 1 && typeof shown[names[0]!] === "string";
  if (isForPrograms(context) || context.globals.columns !== undefined || (!single && !file))
    return printResult(context, open, shape);
  if (!file) await writeTo(context.shell, "stdout", `${String(shown[names[0]!])}\n`);
  await notePublicFacts(context, omit(shown, new Set(names)));
}

/**
 * What an earlier command printed or kept already; without a person it went into a file or a log, and is not repeated
 * unless `--json` or a file asks for it.
 */
export const heldAlready: Readonly<Record<string, { fields: readonly string[]; said: string }>> = {
  "mfa enable": {
    fields: ["recoveryCodes"],
    said: "The second factor is on. Its recovery codes are those that the setup gave; `rmm auth mfa recovery-codes` makes new ones",
  },
};

/** Tokens of the stored sign-in: its session keeps them, and they are not printed. */
async function keptTokens(context: Context, spec: CommandSpec): Promise<ReadonlySet<string>> {
  const isStored = (await context.credential().catch(() => undefined))?.account !== undefined;
  return isStored && spec.access.kinds.includes("user") ? ownTokens : new Set();
}

/** Refuses a choice of output that would lose the secret of the answer; `list`: of answers to entries of a file. */
export async function requireMintShown(context: Context, spec: CommandSpec, list: boolean): Promise<void> {
  const own = await keptTokens(context, spec);
  const secrets = topSecrets(spec).filter((name) => !own.has(name));
  const answer = Object.fromEntries(
    spec.fields.map((name) => [name, secrets.includes(name) ? sampleSecret(spec, name) : name]),
  );
  const inJson = list ? ["result", ...secrets.map((name) => `result.${name}`)] : secrets;
  await requireShown(context, {
    secrets: secrets.length === 0 ? [] : isForPrograms(context) ? inJson : secrets,
    sample: list ? [{ item: { line: 1, name: "name" }, outcome: "done", result: answer }] : answer,
    hint: list
      ? "Choose result too, or keep the secrets with --secret-dir"
      : `Choose ${secrets.join(" or ")} too, or keep it with --secret-file`,
  });
}

/** `::add-mask::` for each secret, so that a workflow's log hides it from here on. */
export async function maskSecrets({ shell }: Context, secrets: readonly string[]): Promise<void> {
  if (shell.env["GITHUB_ACTIONS"] === "true") {
    for (const secret of secrets) {
      await writeToWorkflow(shell, `::add-mask::${secret}\n`);
    }
  }
  for (const secret of secrets) shell.secrets.add(secret);
}

async function notePublicFacts(context: Context, facts: Result): Promise<void> {
  for (const [name, value] of Object.entries(facts)) {
    if (value !== null && value !== undefined) await context.notice(`${name}: ${cellText(value)}`);
  }
}

const omit = (fields: Result, names: ReadonlySet<string>): Result =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)));
const pick = (fields: Result, names: readonly string[]): Result =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)));
