import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import { systemReason } from "#sdk/node/system-reason";
import { type FileKey, type FileOrganization, type ProvisioningModel, type Sink, sinkText } from "./model.ts";
import type { Conflict, Plan, Step } from "./plan.ts";
import { probeSecretFile, writeSecretFile } from "./secret-file.ts";

/** What sinks need to know of this run. */
export interface SinkContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Secrets are fields of the result: any number of keys may use `stdout`. */
  readonly forPrograms: boolean;
  /** Fetches secrets again that went to `github-output` or `stdout`, where their arrival cannot be checked. */
  readonly redeliver: boolean;
  /** Writes a line on stderr that is not masked. */
  writeUnmasked(line: string): Promise<void>;
  /** Masks the secret in everything that stderr shows from here on. */
  keepOut(secret: string): void;
  /** Writes the secret alone on stdout. */
  writeOut(line: string): Promise<void>;
}

/** The model with its file sinks as this process reaches them: a relative path counts from the provisioning file. */
export function withResolvedSinks(model: ProvisioningModel, folder: string, cwd = process.cwd()): ProvisioningModel {
  const keyOf = (key: FileKey): FileKey =>
    key.sink?.kind === "file"
      ? { ...key, sink: { kind: "file", path: shortest(resolve(folder, key.sink.path), cwd) } }
      : key;
  const organizationOf = (one: FileOrganization): FileOrganization =>
    one.enrollmentKeys === undefined ? one : { ...one, enrollmentKeys: one.enrollmentKeys.map(keyOf) };
  return { ...model, organizations: model.organizations.map(organizationOf) };
}

function shortest(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  return inside.startsWith("..") || isAbsolute(inside) ? path : inside;
}

/** Whether the secret of an existing key needs no delivery, as far as anyone can look. */
export const sinkHolds = ({ sink }: FileKey, redeliver: boolean): boolean =>
  sink?.kind === "file" ? existsSync(sink.path) : !redeliver;

const withSecret = ({ organizations }: Plan): (Step & { key: FileKey })[] =>
  organizations.flatMap(({ keys }) => keys.filter((step): step is Step & { key: FileKey } => step.key !== undefined));

/** Sinks that cannot take what the plan would write, found by looking only. */
export function sinkConflicts(plan: Plan, { env, forPrograms }: Pick<SinkContext, "env" | "forPrograms">): Conflict[] {
  const steps = withSecret(plan);
  const toStdout = steps.filter(({ key }) => key.sink?.kind === "stdout");
  return steps.flatMap((step): Conflict[] => {
    const { action, key } = step;
    const conflict = (message: string): Conflict[] => [{ line: key.line, path: `${key.path}.sink`, message }];
    const { sink } = key;
    if (sink?.kind === "file" && action === "create" && existsSync(sink.path)) {
      return conflict(
        `${sink.path} exists, but the server has no such key: move the file away, it is never overwritten`,
      );
    }
    if (sink?.kind === "github-output" && !env["GITHUB_OUTPUT"])
      return conflict("GITHUB_OUTPUT is not set: this is no GitHub Actions step");
    if (sink?.kind === "stdout" && toStdout.length > 1 && !forPrograms) {
      return conflict(`stdout takes one secret and ${toStdout.length} keys would write there: use --json, or files`);
    }
    return [];
  });
}

/** Makes folders and proves that every sink can be written, before anything is created. */
export async function prepareSinks(plan: Plan, { env }: Pick<SinkContext, "env">): Promise<Conflict[]> {
  const found: Conflict[] = [];
  for (const { key } of withSecret(plan)) {
    try {
      if (key.sink?.kind === "file") await probeSecretFile(key.sink.path);
      if (key.sink?.kind === "github-output") await (await open(env["GITHUB_OUTPUT"] as string, "a")).close();
    } catch (error) {
      found.push({
        line: key.line,
        path: `${key.path}.sink`,
        message: `${sinkText(key.sink as Sink)} cannot be written: ${systemReason(error)}`,
      });
    }
  }
  return found;
}

/** Brings a secret to its sink. When this returns, the secret is safe there. */
export async function deliver(sink: Sink, secret: string, context: SinkContext): Promise<void> {
  const inWorkflow = context.env["GITHUB_ACTIONS"] === "true" || sink.kind === "github-output";
  if (inWorkflow) await context.writeUnmasked(`::add-mask::${secret}\n`);
  context.keepOut(secret);
  if (sink.kind === "file") return writeSecretFile(sink.path, secret);
  if (sink.kind === "github-output") return appendOutput(context.env["GITHUB_OUTPUT"] as string, sink.name, secret);
  if (!context.forPrograms) await context.writeOut(`${secret}\n`);
}

async function appendOutput(path: string, name: string, secret: string): Promise<void> {
  const file = await open(path, "a", 0o600);
  try {
    await file.writeFile(`${name}=${secret}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}
