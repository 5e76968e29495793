import {
  type FunctionNode,
  type IdentifierNode,
  type OperationNode,
  PostgresQueryCompiler,
  SqliteQueryCompiler,
} from "kysely";
import { snakeCase } from "../naming.ts";
import type { DialectName } from "./index.ts";

/** Text (first argument) that is like a pattern of lower case (second), however the text is written. */
export const FOLDED_LIKE = "folded_like";

/** True for ids (first argument) of devices whose names contain a text (`device-names.ts`, whose parts follow). */
export const DEVICE_IS_NAMED = "device_is_named";

/** The ids of such devices as JSON, so many at most as the last argument says. */
export const DEVICES_NAMED = "devices_named";

/** True for titles of software (first argument) that contain a text (`titlesWith`). */
export const TITLE_CONTAINS = "title_contains";

/** What each database makes of a function of ours: `{1}` is its first argument. */
const ours: Record<DialectName, Readonly<Record<string, readonly string[]>>> = {
  sqlite: templates({
    // SQLite folds plain letters by itself. A call of `fold` costs more than all else of a row, so other text alone takes it.
    [FOLDED_LIKE]: "({1} like {2} escape '!' or (octet_length({1}) <> length({1}) and fold({1}) like {2} escape '!'))",
    [DEVICE_IS_NAMED]: "({1} in (select device_id from search_device_names({2})))",
    [DEVICES_NAMED]:
      "(select json_group_array(device_id) from (select device_id from search_device_names({1}) limit {5}))",
    [TITLE_CONTAINS]:
      "({1} in (select title from software_titles where case when octet_length(title) = length(title) " +
      "then title like {2} escape '!' else has_text(title, {3}, 'anywhere') end))",
  }),
  postgres: templates({
    [FOLDED_LIKE]: "(fold({1}) like {2} escape '!')",
    // In a query of its own, so that it runs once and not when the statement is planned.
    [DEVICE_IS_NAMED]: "({1} = any((select rmm_devices_named({3}, {4}, {5}, null))::uuid[]))",
    [DEVICES_NAMED]: "array_to_json(rmm_devices_named({2}, {3}, {4}, {5}))::text",
    [TITLE_CONTAINS]: "({1} = any((select rmm_titles_with({2}, {4}))::text[]))",
  }),
};

function templates(texts: Record<string, string>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.split(/\{(\d)\}/)]));
}

/**
 * Names are camelCase in code and snake_case in the database. The compiler writes them so: a plugin
 * would copy the whole query first, which costs more than compiling it (measured).
 */
export class SnakeCaseSqliteCompiler extends SqliteQueryCompiler {
  protected override visitIdentifier(node: IdentifierNode): void {
    this.append(quoted(node.name));
  }

  protected override visitFunction(node: FunctionNode): void {
    const template = ours.sqlite[node.func];
    if (!template) super.visitFunction(node);
    else
      write(
        template,
        (text) => this.append(text),
        (place) => this.visitNode(node.arguments[place - 1] as OperationNode),
      );
  }
}

export class SnakeCasePostgresCompiler extends PostgresQueryCompiler {
  protected override visitIdentifier(node: IdentifierNode): void {
    this.append(quoted(node.name));
  }

  protected override visitFunction(node: FunctionNode): void {
    const template = ours.postgres[node.func];
    if (!template) super.visitFunction(node);
    else
      write(
        template,
        (text) => this.append(text),
        (place) => this.visitNode(node.arguments[place - 1] as OperationNode),
      );
  }
}

/** Every second part of a template is the place of an argument. */
function write(template: readonly string[], append: (text: string) => void, visit: (place: number) => void): void {
  for (const [index, part] of template.entries()) {
    if (index % 2 === 0) append(part);
    else visit(Number(part));
  }
}

/** Names come from code alone, so there are only so many. */
const known = new Map<string, string>();

function quoted(name: string): string {
  let text = known.get(name);
  if (text === undefined) {
    text = `"${snakeCase(name).replaceAll('"', '""')}"`;
    known.set(name, text);
  }
  return text;
}
