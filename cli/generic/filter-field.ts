import type { CommandSpec } from "../manifest.ts";
import { type Field, fieldsOf } from "./fields.ts";

/** An expression, as examples and questions show it. */
export const sampleWhere = "osType = windows and tags any [web]";

/** The field that takes the conditions of a filter: `--where` stands for it. */
export const filterFieldOf = (spec: CommandSpec): Field | undefined => fieldsOf(spec).find(isFilterField);

export const isFilterField = ({ spec: { name, type, example } }: Field): boolean =>
  type === "object" && /^(filterC|c)onditions$/.test(name) && example?.startsWith('{"operator":') === true;
