import { didYouMean } from "#contract/core/suggest";
import { CliError, usageError } from "../errors/cli-error.ts";
import { fileName } from "../input/read-text.ts";
import { foldName, type ProvisioningModel } from "./model.ts";
import type { Conflict } from "./plan.ts";
import { readModel } from "./read-model.ts";
import { withResolvedSinks } from "./sinks.ts";

export interface LoadOptions {
  /** Where relative file sinks count from. */
  readonly sinkDir: string;
  /** Only this organization of the file. */
  readonly only?: string | undefined;
  /** Instead of what the file says. */
  readonly partner?: string | undefined;
}

/** Reads the text of a provisioning file. One with problems is refused with all of them. */
export async function loadModel(text: string, name: string, options: LoadOptions): Promise<ProvisioningModel> {
  const { model, problems } = await readModel(text);
  if (!model) {
    throw new CliError(`${name} has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}`, {
      exit: "usage",
      code: "INVALID_FILE",
      details: located(name, problems),
      hint: "`rmm schema provisioning` prints what a file may say",
    });
  }
  const resolved = withResolvedSinks(model, options.sinkDir);
  return { partner: options.partner ?? resolved.partner, organizations: chosen(resolved, options.only, name) };
}

/** Problems as an error lists them: `tenants.yaml:12 organizations[0].slug`. */
export const located = (file: string, problems: readonly Conflict[]) =>
  problems.map(({ line, path, message }) => ({ path: `${file}:${line}${path && ` ${path}`}`, message, file, line }));

/** What the server has does not go together with what the file says. */
export const conflictError = (file: string, conflicts: readonly Conflict[]): CliError =>
  new CliError(`${fileName(file)} cannot be carried out as it is`, {
    exit: "conflict",
    code: "PLAN_CONFLICT",
    details: located(fileName(file), conflicts),
    hint: "Nothing was changed",
  });

function chosen({ organizations }: ProvisioningModel, only: string | undefined, name: string) {
  if (only === undefined) return organizations;
  const bySlug = organizations.filter(({ slug }) => slug === only.toLowerCase());
  const found = bySlug.length > 0 ? bySlug : organizations.filter((one) => foldName(one.name ?? "") === foldName(only));
  if (found.length === 1) return found;
  if (found.length > 1) {
    throw usageError(
      `${name} has ${found.length} organizations named ${only}`,
      `Give a slug: ${found.map(({ slug }) => slug).join(", ")}`,
    );
  }
  throw usageError(
    `${name} has no organization ${only}${didYouMean(
      only,
      organizations.map(({ slug }) => slug),
    )}`,
  );
}
