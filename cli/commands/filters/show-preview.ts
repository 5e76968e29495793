import type { Context } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import { attributeOf, fieldsOf } from "../../generic/fields.ts";
import type { CommandSpec } from "../../manifest.ts";
import { isForPrograms, printResult } from "../../output/print.ts";

/** What a preview answers. */
interface Preview {
  readonly data: { readonly totalCount: number; readonly devices: readonly unknown[] };
}

type Options = Readonly<Record<string, unknown>>;

const columns = ["hostname", "displayName", "status", "osType", "lastSeenAt", "id"];

/** Of `--json=…` and `--columns`. */
export const previewFields = (context: Context, spec: CommandSpec): readonly string[] =>
  isForPrograms(context) ? spec.fields : columns;

/** `--limit` is the field of the request. */
export function withLimit({ globals }: Context, spec: CommandSpec, options: Options): Options {
  const field = fieldsOf(spec).find(({ spec: { name } }) => name === "limit");
  if (field === undefined || globals.limit === undefined) return options;
  const { flag } = field;
  const most = field.spec.maximum ?? Number.POSITIVE_INFINITY;
  if (globals.limit > most)
    throw usageError(`--limit must be at most ${most}`, "All of them: `rmm devices list --all` with the same --where");
  if (options[attributeOf(flag)] !== undefined) throw usageError(`Use either --limit or --${flag}`);
  return { ...options, [attributeOf(flag)]: String(globals.limit) };
}

/** Prints the devices of a preview, and how many match in all; programs get the answer as it is. */
export async function showPreview(context: Context, spec: CommandSpec, result: unknown): Promise<number> {
  if (isForPrograms(context)) {
    await printResult(context, result, { fields: spec.fields });
    return 0;
  }
  const { devices, totalCount } = (result as Preview).data;
  await printResult(context, devices, { fields: columns, columns, keep: ["hostname"] });
  await context.notice(countText(totalCount, devices.length));
  return 0;
}

function countText(total: number, shown: number): string {
  if (total === 0) return "No device matches";
  const matching = total === 1 ? "1 device matches" : `${total.toLocaleString("en-US")} devices match`;
  if (shown >= total) return matching;
  return `${matching}; ${shown === 1 ? "the first by hostname is" : `the first ${shown} by hostname are`} shown`;
}
