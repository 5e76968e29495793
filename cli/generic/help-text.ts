import type { CommandSpec, FlagSpec } from "../manifest.ts";
import { spellingOf } from "../noun-aliases.ts";
import { wrapWords } from "../output/wrap.ts";
import { type Field, fieldsOf, soleValueOf } from "./fields.ts";
import { isFilterField, sampleWhere } from "./filter-field.ts";
import { questionBefore } from "./losses.ts";
import { sampleParam } from "./path-params.ts";
import { scopePlaceOf } from "./refs-of.ts";
import { sampleOf } from "./row-names.ts";
import { SAMPLE_ID, shellText } from "./samples.ts";
import { topSecrets } from "./secret-fields.ts";

const orgFlag = `--org ${sampleOf("organization")}`;
const answers = { none: "", yes: " --yes", count: " --yes", slug: ` --confirm=${sampleOf("organization")}` } as const;

/** Recognizes the field that `--org` sets. */
function scopeFieldOf(spec: CommandSpec): (field: Field) => boolean {
  const place = scopePlaceOf(spec, "organization");
  return ({ where, spec: { name } }) => place?.part === where && place.name === name;
}

/** What stands above the usage line. */
export function examplesOf(spec: CommandSpec): string {
  const base = ["rmm", spellingOf(spec.noun), spec.name, ...spec.params.map((param) => sampleParam(spec, param))].join(
    " ",
  );
  const fields = fieldsOf(spec);
  const isScope = scopeFieldOf(spec);
  const scoped = spec.method === "POST" && fields.some((field) => isScope(field) && !field.spec.required);
  const required = [
    ...(scoped ? [orgFlag] : []),
    ...fields
      .filter(({ spec: field }) => isInExample(spec, field) && soleValueOf(field) === undefined)
      .map((field) => (isScope(field) ? orgFlag : sampleFlag(field))),
  ];
  const answer = answers[questionBefore(spec, 1)];
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

const isInExample = ({ inExample = [] }: CommandSpec, { required, name }: FlagSpec): boolean =>
  required || inExample.includes(name);

/** Who may run it, and what it leaves on record. */
export function accessOf({ access, audit, emits, mayEmit, idempotent }: CommandSpec): string {
  const { kinds, scopes, permissions, lesserPermission, otherPermission, keyScopes, mfa, fullPartner, ownPartner } =
    access;
  const names = {
    user: "user",
    apiKey: "API key",
    partnerKey: "partner key",
    agent: "device token",
    public: "none needed",
  };
  const limits = [
    ...(fullPartner ? ["(access to all organizations)"] : []),
    ...(ownPartner ? ["(members of a partner)"] : []),
  ];
  const told = [...emits, ...mayEmit.map((kind) => `${kind} (in some cases)`)];
  const all = permissions.length === 0 ? "none" : permissions.join(", ");
  const needed = otherPermission === undefined ? all : `${all}, or ${otherPermission}`;
  const rows: [string, string][] = [
    ["Permission", lesserPermission === undefined ? needed : `${needed}; for a part of it ${lesserPermission}`],
    ["Credential", kinds.map((kind) => names[kind]).join(", ")],
    ...(scopes.length === 0 ? [] : ([["Scope", [scopes.join(", "), ...limits].join(" ")]] as [string, string][])),
    ...(keyScopes.length === 0 ? [] : ([["Key scope", keyScopes.join(" or ")]] as [string, string][])),
    ["MFA", mfa ? "needed" : "not needed"],
    ["Audit", audit ?? "no entry"],
    ...(told.length === 0 ? [] : ([["Events", told.join(", ")]] as [string, string][])),
    ...(idempotent ? ([["Repeatable", "yes, with --idempotency-key"]] as [string, string][]) : []),
  ];
  return rows.map(([name, value]) => wrapWords(`${`${name}:`.padEnd(12)}${value}`, 80, 12)).join("\n");
}

function sampleFlag(field: Field): string {
  const { spec, flag } = field;
  if (isFilterField(field)) return `--where '${sampleWhere}'`;
  return spec.secret ? `--${flag}-file ${flag}.txt` : `--${flag} ${sampleValue(spec)}`;
}

/** A longer one fits no line. */
const LONGEST_JSON = 70;

function sampleValue({ type, values, example, format, ref, itemValues }: FlagSpec): string {
  const called = ref && sampleOf(ref);
  if (called !== undefined) return called;
  if (type === "enum") return values?.[0] ?? "value";
  if (ref !== undefined || format === "uuid") return SAMPLE_ID;
  if (type === "array") return itemValues?.[0] ?? shellText(example);
  if (type === "integer" || type === "number") return "1";
  if (type === "object") return (example?.length ?? 0) > LONGEST_JSON ? '"$(cat value.json)"' : `'${example ?? "{}"}'`;
  if (format === "email") return "ana@contoso.example";
  if (format === "date-time") return "+30d";
  return shellText(example);
}
