import type { Command } from "commander";
import { globalFlagNames } from "../globals.ts";
import type { CommandSpec, FlagSpec } from "../manifest.ts";
import { calledMany, calledOne } from "./row-names.ts";

/** A field of a query or a body with the flag it has on the command line. */
export interface Field {
  readonly spec: FlagSpec;
  readonly where: "query" | "body";
  /** Long flag without dashes. */
  readonly flag: string;
}

/** The fields of an endpoint that are flags. `limit` of a list is the global flag; what may stand in either place is one. */
export function fieldsOf(command: CommandSpec): Field[] {
  const query = command.query.filter(({ name }) => command.paging === null || name !== "limit");
  const all = [
    ...query.map((spec) => ({ spec, where: "query" as const })),
    ...command.body
      .filter(({ name }) => query.every((one) => one.name !== name))
      .map((spec) => ({ spec, where: "body" as const })),
  ];
  const taken = new Set<string>(globalFlagNames);
  return all.map(({ spec, where }) => {
    const called = shortFlag(spec) ?? spec.flag;
    const free = namesOf(spec, called).every((name) => !taken.has(name) && !reserved.has(name));
    const flag = free ? called : (otherFlags[called] ?? `field-${called}`);
    for (const name of namesOf(spec, flag)) taken.add(name);
    return { spec, where, flag };
  });
}

/** The value of a field that must be given and has only one: nobody is asked for it. */
export const soleValueOf = ({ required, values }: FlagSpec): string | undefined =>
  required && values?.length === 1 ? values[0] : undefined;

/** These take names: they are `--partner` and `--role`, as an organization is `--org`; `--partner-id` will do. */
const shortFlags: Readonly<Record<string, string>> = {
  partnerId: "partner",
  roleId: "role",
  defaultRoleId: "default-role",
  userId: "user",
};
const shortFlag = ({ name, ref }: FlagSpec): string | undefined => (ref === undefined ? undefined : shortFlags[name]);

/** What fields are called whose own name is that of a flag of the program, which means something else. */
const otherFlags: Readonly<Record<string, string>> = {
  token: "link",
  secret: "signing-secret",
  wait: "wait-seconds",
};

/** The value that was given, by either flag. */
export function givenTo({ spec, flag }: Field, options: Readonly<Record<string, unknown>>): unknown {
  const given = options[attributeOf(flag)];
  return given === undefined && flag === shortFlag(spec) ? options[attributeOf(spec.flag)] : given;
}

/** What a field takes on the command line: a secret has two flags, and none with its value. */
const namesOf = ({ secret }: FlagSpec, flag: string): string[] =>
  secret ? [flag, `${flag}-file`, `${flag}-stdin`] : [flag];

/** Flags that commands of every endpoint have beside its fields. */
const reserved = new Set(["file", "clear", "help", "secret-file", "secret-dir", "concurrency", "if-not-exists"]);

/** `orgId` of `--org-id`: where commander keeps the value. */
export const attributeOf = (flag: string): string =>
  flag.replace(/-([a-z0-9])/g, (_, char: string) => char.toUpperCase());

/** Adds the flags of all fields. Checks come later, so that everything missing or wrong is named at once. */
export function addFieldFlags(command: Command, spec: CommandSpec): void {
  for (const field of fieldsOf(spec)) addFieldFlag(command, field);
  if (spec.body.some(({ nullable }) => nullable)) {
    command.option("--clear <fields>", "fields to empty, with commas", collect, undefined);
  }
}

function addFieldFlag(command: Command, { spec, flag }: Field): void {
  const text = descriptionOf(spec);
  if (spec.secret) {
    command.option(`--${flag}-file <path>`, `${text}; read from a file`);
    command.option(`--${flag}-stdin`, `${text}; read from stdin`);
  } else if (spec.type === "boolean") {
    command.option(`--${flag}`, text);
    command.addOption(command.createOption(`--no-${flag}`, text).hideHelp());
  } else {
    const repeats = spec.type === "array";
    const option = command.createOption(`--${flag} <${placeholder(spec)}>`, text);
    if (repeats) option.argParser(collect);
    command.addOption(option);
    if (flag !== spec.flag && flag === shortFlag(spec))
      command.addOption(command.createOption(`--${spec.flag} <${placeholder(spec)}>`, text).hideHelp());
  }
}

const collect = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

const placeholders: Partial<Record<string, string>> = { "date-time": "time", uuid: "id", email: "email", uri: "url" };

function placeholder({ type, format, itemType }: FlagSpec): string {
  if (type === "integer" || type === "number") return "n";
  if (type === "object") return "json";
  if (type === "array") return itemType === "object" ? "json" : "values";
  return (format && placeholders[format]) ?? "value";
}

/** The same JSON with blanks, at which a terminal can break it. */
const breakable = (json = ""): string =>
  json.length <= LONG_JSON ? json : JSON.stringify(JSON.parse(json), null, 1).replaceAll(/\n\s*/g, " ");

const LONG_JSON = 40;

function descriptionOf(spec: FlagSpec): string {
  const {
    description,
    name,
    type,
    shape,
    example,
    values,
    itemValues,
    required,
    default: byDefault,
    minimum,
    maximum,
  } = spec;
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  const options = values ?? itemValues;
  const range = type === "integer" && minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : "";
  const shown =
    byDefault === undefined || byDefault === null || typeof byDefault === "object"
      ? ""
      : `default ${String(byDefault)}`;
  const called = spec.ref && (spec.format === "uuid" ? calledOne : calledMany)(spec.ref);
  const notes = [
    ...(called === undefined ? [] : [called]),
    ...(required ? ["required"] : []),
    ...(options ? [options.join(", ")] : []),
    ...(range ? [range] : []),
    ...(shown ? [shown] : []),
    ...(type === "array" ? ["repeat or use commas"] : []),
    ...(type === "boolean" ? [`--no-${spec.flag} for false`] : []),
  ];
  const json = shape === undefined ? "" : `. JSON: ${shape}, for example '${breakable(example)}'`;
  return `${description ?? words}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}${json}`;
}
