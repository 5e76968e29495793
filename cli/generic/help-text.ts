import type { CommandSpec, FlagSpec } from "../manifest.ts";
import { isDestructive, isSevere } from "./confirm.ts";
import { type Field, fieldsOf } from "./fields.ts";
import { topSecrets } from "./minted.ts";
import { placeholderOf } from "./missing.ts";
import { orgParamIsScope, paramOf } from "./scope.ts";

/** What stands above the usage line. */
export function examplesOf(spec: CommandSpec): string {
  const base = ["rmm", spec.noun, spec.name, ...spec.params.map((param) => sampleParam(spec, param))].join(" ");
  const scoped = spec.method === "POST" && spec.body.some(({ name, required }) => name === "orgId" && !required);
  const required = [
    ...(scoped ? ["--org contoso-dental"] : []),
    ...fieldsOf(spec)
      .filter((field) => field.spec.required)
      .map(sampleFlag),
  ];
  const answer = isSevere(spec) ? " --confirm=contoso-dental" : isDestructive(spec) ? " --yes" : "";
  const plain = [base, ...required].join(" ") + answer;
  const more = spec.paging
    ? [
        `${base} --all --json`,
        ...(spec.fields.length > 1 ? [`${base} --json=${spec.fields.slice(0, 2).join(",")}`] : []),
      ]
    : spec.hasBody
      ? [
          `${base} -f body.json`,
          ...(spec.method === "POST" && topSecrets(spec).length === 0 && required.length > 0
            ? [`${base} -f list.csv`]
            : []),
        ]
      : [`${base}${answer} --json`];
  return ["Examples:", ...new Set([plain, ...more])]
    .map((line, index) => (index === 0 ? line : `  ${line}`))
    .join("\n")
    .concat("\n");
}

/** Who may run it, and what it leaves on record. */
export function accessOf({ access, audit, idempotent }: CommandSpec): string {
  const { kinds, scopes, permissions, keyScopes, mfa, fullPartner } = access;
  const names = {
    user: "user",
    apiKey: "API key",
    partnerKey: "partner key",
    agent: "device token",
    public: "none needed",
  };
  const rows: [string, string][] = [
    ["Permission", permissions.length === 0 ? "none" : permissions.join(", ")],
    ["Credential", kinds.map((kind) => names[kind]).join(", ")],
    ...(scopes.length === 0
      ? []
      : ([["Scope", `${scopes.join(", ")}${fullPartner ? " (access to all organizations)" : ""}`]] as [
          string,
          string,
        ][])),
    ...(keyScopes.length === 0 ? [] : ([["Key scope", keyScopes.join(" or ")]] as [string, string][])),
    ["MFA", mfa ? "needed" : "not needed"],
    ["Audit", audit ?? "no entry"],
    ["Repeatable", idempotent ? "yes, with --idempotency-key" : "as it stands"],
  ];
  if (!idempotent) rows.pop();
  return rows
    .map(([name, value]) => `${`${name}:`.padEnd(12)}${value}`)
    .join("\n")
    .concat("\n");
}

function sampleParam(spec: CommandSpec, param: string): string {
  if (paramOf(spec, "organizations") === param)
    return orgParamIsScope(spec) ? "--org contoso-dental" : "contoso-dental";
  return paramOf(spec, "sites") === param ? "HQ" : placeholderOf(param);
}

function sampleFlag({ spec, flag }: Field): string {
  if (spec.secret) return `--${flag}-file ${flag}.txt`;
  if (spec.name === "orgId") return "--org contoso-dental";
  return `--${flag} ${sampleValue(spec)}`;
}

function sampleValue({ type, values, format, name, itemValues }: FlagSpec): string {
  if (type === "enum") return values?.[0] ?? "value";
  if (type === "array") return itemValues?.[0] ?? "<id>";
  if (type === "integer" || type === "number") return "1";
  if (type === "object") return "'{}'";
  if (format === "email") return "ana@contoso.example";
  if (format === "uuid") return "<id>";
  if (format === "date-time") return "+30d";
  return name === "slug" ? "contoso-dental" : name === "name" ? "'Contoso Dental'" : "value";
}
