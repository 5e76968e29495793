import type { Command } from "commander";
import type { CommandSpec, FlagSpec } from "../manifest.ts";
import { addWhere } from "../where/option.ts";
import { type Field, fieldsOf } from "./fields.ts";

/** An expression, as examples and questions show it. */
export const sampleWhere = "osType = windows and tags any [web]";

/** The field that takes the conditions of a filter: `--where` stands for it. */
export const filterFieldOf = (spec: CommandSpec): Field | undefined => fieldsOf(spec).find(isFilterField);

export const isFilterField = ({ spec }: Field): boolean => isFilter(spec);

const isFilter = ({ name, type, example }: FlagSpec): boolean =>
  type === "object" && /^(filterC|c)onditions$/.test(name) && example?.startsWith('{"operator":') === true;

/** Conditions as help shows them: `--where` will do instead. */
export const besideWhere = (spec: CommandSpec): CommandSpec => ({
  ...spec,
  body: spec.body.map((field) =>
    isFilter(field)
      ? {
          ...field,
          required: false,
          description: `${field.description ?? "conditions"} (${insteadOf("where", field)})`,
        }
      : field,
  ),
});

/** Adds `--where` to a command that takes conditions. */
export function addWhereBeside(command: Command, spec: CommandSpec): void {
  const field = filterFieldOf(spec);
  if (field !== undefined) addWhere(command, ` (${insteadOf(field.flag, field.spec)})`);
}

const insteadOf = (other: string, { required }: FlagSpec): string =>
  required ? `this or --${other} is required` : `or --${other}`;
