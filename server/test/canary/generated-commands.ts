import { nouns } from "#cli/generated/nouns";
import { commandsOf } from "#cli/generic/commands-of";
import { fieldsOf } from "#cli/generic/fields";
import type { CommandSpec, FlagSpec } from "#cli/manifest";
import { HERE } from "./canary-run.ts";

/** `login` is tested with the hand-written commands: it signs in and prints no secret. */
const written = (spec: CommandSpec) => spec.noun === "users" && spec.name === "accept-invite";

/** Endpoints that take or return a secret according to the contract, so that a new one is tested too. */
export async function secretCommands(): Promise<CommandSpec[]> {
  const all = (await Promise.all(nouns.map(({ noun }) => commandsOf(noun)))).flat();
  return all.filter(
    (spec) =>
      !written(spec) && (spec.secretResult.length > 0 || [...spec.body, ...spec.query].some(({ secret }) => secret)),
  );
}

export interface Typed {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly given: Readonly<Record<string, string>>;
}

const ID = "11111111-1111-4111-8111-111111111111";

/** The command line of an endpoint: each secret in its own file, the other required fields in a body file. */
export function typed(spec: CommandSpec, plant: (what: string) => string): Typed {
  const given: Record<string, string> = {};
  const argv = [spec.noun, spec.name, ...spec.params.map(() => ID), "--yes"];
  const rest: Record<string, unknown> = {};
  for (const { spec: field, flag, where } of fieldsOf(spec)) {
    if (field.secret) {
      const text = plant(flag);
      given[`${flag}.txt`] = `${text}\n`;
      argv.push(`--${flag}-file`, `${HERE}/${flag}.txt`);
    } else if (field.required && where === "body") rest[field.name] = sampleOf(field);
    else if (field.required) argv.push(`--${flag}`, String(sampleOf(field)));
  }
  if (Object.keys(rest).length > 0) {
    given["body.json"] = JSON.stringify(rest);
    argv.push("-f", `${HERE}/body.json`);
  }
  return { argv, env: credentialFor(spec, plant), given };
}

/** A credential of a kind that the endpoint takes. */
function credentialFor({ access: { kinds } }: CommandSpec, plant: (what: string) => string): Record<string, string> {
  if (kinds.includes("user")) return { RMM_TOKEN: plant("token") };
  if (kinds.includes("partnerKey")) return { RMM_API_KEY: `svc_sp_${plant("key")}` };
  if (kinds.includes("apiKey")) return { RMM_API_KEY: `svc_${plant("key")}` };
  return kinds.includes("agent") ? { RMM_TOKEN: `agt_${plant("token")}` } : {};
}

function sampleOf({ type, values, format, itemType, minimum, ref }: FlagSpec): unknown {
  if (values) return values[0];
  if (type === "integer" || type === "number") return minimum ?? 1;
  if (type === "boolean") return true;
  if (type === "array") return itemType === "object" ? [{}] : ["value"];
  if (type === "object") return {};
  if (format === "uuid" || ref !== undefined) return ID;
  if (format === "email") return "ana@contoso.example";
  if (format === "date-time") return "2030-01-01T00:00:00.000Z";
  return format === "uri" ? "https://contoso.example" : "value";
}
