import { nouns } from "./generated/nouns.ts";
import { commandsOf } from "./generic/commands-of.ts";
import { fieldsOf } from "./generic/fields.ts";
import { questionBefore } from "./generic/losses.ts";
import { withOwnPassword } from "./generic/own-password.ts";
import type { CommandSpec } from "./manifest.ts";

export const ANY_ID = "11111111-1111-4111-8111-111111111111";

/** The commands of all endpoints. */
export const specs = async (): Promise<CommandSpec[]> =>
  (await Promise.all(nouns.map(({ noun }) => commandsOf(noun)))).flat();

/** A credential that the endpoint takes: a person's where it takes people or everybody, else that of its kind. */
export function tokenFor({ kinds }: CommandSpec["access"]): string {
  if (kinds.includes("user") || kinds.includes("public")) return "token-of-ana";
  if (kinds.includes("partnerKey")) return `svc_sp_${"a".repeat(43)}`;
  return kinds.includes("apiKey") ? `svc_${"a".repeat(32)}` : `agt_${"0".repeat(64)}`;
}

/** A command line that has everything an endpoint needs. */
export function commandLine(spec: CommandSpec): { argv: string[]; stdin?: string } {
  const line = unconfirmed(spec);
  return { ...line, argv: [...line.argv, ...answersTo[questionBefore(spec, 1)]] };
}

const answersTo = { none: [], yes: ["--yes"], count: ["--confirm=1"], slug: ["--confirm=slug-of-it"] } as const;

/** The same without a yes to what is asked before a loss. */
export function unconfirmed(spec: CommandSpec): { argv: string[]; stdin?: string } {
  const stdin: string[] = [];
  const flags = fieldsOf(withOwnPassword(spec, {})).flatMap(({ spec: field, flag }) => {
    if (!field.required) return [];
    if (!field.secret) return [`--${flag}`, sample(field)];
    stdin.push("Secret-Value-1");
    return [`--${flag}-stdin`];
  });
  const needsChange = spec.method === "PATCH" && !spec.bodyOptional && flags.length === 0;
  const change = needsChange ? changeOf(spec, stdin) : [];
  const store = spec.name === "accept-invite" ? ["--store=file"] : [];
  const argv = [spec.noun, spec.name, ...spec.params.map(() => ANY_ID), ...flags, ...change, ...store];
  return stdin.length === 0 ? { argv } : { argv, stdin: `${stdin.join("\n")}\n` };
}

/** Something to change: a text, or where the body has no names of its own one that stdin brings. */
function changeOf(spec: CommandSpec, stdin: string[]): string[] {
  const text = fieldsOf(spec).find(({ where, spec: { type } }) => where === "body" && type === "string");
  if (text) return [`--${text.flag}`, ANY_ID];
  stdin.push('{"field_1":"value"}');
  return ["--file=-"];
}

function sample({ type, values, itemValues, itemType, format }: CommandSpec["body"][number]): string {
  if (type === "enum") return values![0]!;
  if (type === "array") return itemType === "object" ? "[]" : (itemValues?.[0] ?? ANY_ID);
  if (type === "integer" || type === "number") return "1";
  if (type === "object") return "{}";
  return format === "date-time" ? "2026-01-01" : format === "email" ? "a@b.example" : ANY_ID;
}
