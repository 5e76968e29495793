import type { DescribedError } from "../errors/describe-error.ts";
import type { CommandSpec } from "../manifest.ts";
import type { FieldChange } from "../provisioning/field-change.ts";
import type { Draft, Invocation } from "./invocation.ts";
import { organizationOf } from "./refs-of.ts";
import { topSecrets } from "./secret-fields.ts";
import { labelOf } from "./subject.ts";

/** What became of one entry of a list; its first five fields are those of every item that this program prints. */
export interface ItemOutcome {
  /** `exists`: it was there, or an earlier run made it. `skipped`: not tried, because of what came before. */
  readonly outcome: "done" | "exists" | "failed" | "skipped";
  readonly kind: string;
  /** `contoso-dental/HQ`: the organization and the name behind it, as far as they are known. */
  readonly key: string;
  readonly changes: readonly FieldChange[];
  /** What the file calls it, and where. */
  readonly item: { readonly line: number | null; readonly name: string | null };
  readonly result?: unknown;
  /** What is worth a word of an entry that did not fail: why it lacks a secret, or that its name is there twice. */
  readonly note?: string;
  /** Where the secret was written to. */
  readonly secretFile?: string;
  readonly error?: DescribedError;
}

export const outcomeFields = ["outcome", "kind", "key", "changes", "item", "result", "note", "secretFile", "error"];

/** Columns of the table: the secret of a minted key is one, or the file that has it. */
export const outcomeColumns = (spec: CommandSpec, options: Readonly<Record<string, unknown>>): string[] => [
  ...["line", "outcome", "id", "name"],
  ...secretColumns(spec, options),
  "message",
];

export const secretColumns = (spec: CommandSpec, options: Readonly<Record<string, unknown>>): readonly string[] =>
  options["secretDir"] === undefined ? topSecrets(spec) : ["secretFile"];

export type About = Pick<ItemOutcome, "kind" | "key" | "changes" | "item">;

/** What an entry is about, before it is sent. */
export function aboutOf({ spec, names }: Invocation, draft: Draft): About {
  const name =
    draft.called ??
    labelOf(spec.kind, draft.body) ??
    (spec.params.length === 0 ? undefined : draft.params[spec.params.at(-1)!]);
  const orgId = organizationOf(spec, draft);
  const org = orgId === undefined ? undefined : (names.known(orgId)?.slug ?? orgId);
  const secret = new Set(spec.body.filter((field) => field.secret).map((field) => field.name));
  const given = spec.method === "DELETE" ? [] : Object.entries(draft.body);
  const shown = (field: string, after: unknown) => (secret.has(field) ? "********" : after);
  return {
    kind: kindName(spec),
    key: [org, name].filter((part) => part !== undefined).join("/"),
    changes: given
      .filter(([, after]) => after !== undefined)
      .map(([field, after]) => ({ field, before: null, after: shown(field, after) })),
    item: { line: draft.line ?? null, name: name ?? null },
  };
}

/** `enrollmentKey` of `enrollment-keys`, as provisioning files call it. */
function kindName({ noun, kind }: CommandSpec): string {
  return (kind ?? noun).replace(/-([a-z])/g, (_, char: string) => char.toUpperCase());
}

/** One outcome as a row of the table. */
export function rowOf(
  spec: CommandSpec,
  { outcome, item, result, note, secretFile, error }: ItemOutcome,
): Record<string, unknown> {
  const made = (result ?? {}) as Record<string, unknown>;
  const secrets = Object.fromEntries(topSecrets(spec).map((name) => [name, made[name]]));
  const message = error === undefined ? note : `${error.code}: ${error.message}${issuesOf(error)}`;
  return {
    line: item.line,
    outcome,
    id: idIn(made),
    name: labelOf(spec.kind, made) ?? item.name,
    ...secrets,
    secretFile,
    message,
  };
}

/** Where an answer holds the row that it is about. */
const rowFields = ["data", "device", "request", "rule", "signerGroup"] as const;

/** The id of what an answer is about; some answers name it by its kind, or hold its row. */
export function idIn(made: Readonly<Record<string, unknown>>): string | undefined {
  const within = rowFields.map((name) => made[name]).map((row) => (row as { id?: unknown } | undefined)?.id);
  return [made["id"], made["keyId"], made["apiKeyId"], ...within].find((id): id is string => typeof id === "string");
}

/** What the message does not say already. */
function issuesOf({ details, message, code }: DescribedError): string {
  if (!Array.isArray(details) || code === "MISSING_INPUT") return "";
  const issues = details
    // An expression says its place and what is wrong as the message does.
    .filter(({ path, message: text }: { path?: string; message?: string }) => message !== `${path}: ${text}`)
    .map(({ path = "", message: text = "" }: { path?: string; message?: string }) =>
      text.startsWith(path) ? text : `${path} ${text}`,
    )
    .filter((text) => !message.includes(text));
  return issues.length === 0 ? "" : ` (${issues.join("; ")})`;
}
