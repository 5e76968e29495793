import { type FunctionNode, type IdentifierNode, PostgresQueryCompiler, SqliteQueryCompiler } from "kysely";
import { snakeCase } from "../naming.ts";

/** Text (first argument) that is like a pattern of lower case (second), however the text is written. */
export const FOLDED_LIKE = "folded_like";

/** What each database makes of it: T is the text, P the pattern. */
const foldedLike = {
  /** SQLite folds plain letters by itself. A call of `fold` costs more than all else of a row, so other text alone takes it. */
  sqlite: "(T like P escape '!' or (octet_length(T) <> length(T) and fold(T) like P escape '!'))".split(/([TP])/),
  postgres: "(fold(T) like P escape '!')".split(/([TP])/),
};

/**
 * Names are camelCase in code and snake_case in the database. The compiler writes them so: a plugin
 * would copy the whole query first, which costs more than compiling it (measured).
 */
export class SnakeCaseSqliteCompiler extends SqliteQueryCompiler {
  protected override visitIdentifier(node: IdentifierNode): void {
    this.append(quoted(node.name));
  }

  protected override visitFunction(node: FunctionNode): void {
    if (node.func !== FOLDED_LIKE) super.visitFunction(node);
    else for (const part of foldedLike.sqlite) this.#write(part, node);
  }

  #write(part: string, { arguments: [text, pattern] }: FunctionNode): void {
    if (part === "T" && text) this.visitNode(text);
    else if (part === "P" && pattern) this.visitNode(pattern);
    else this.append(part);
  }
}

export class SnakeCasePostgresCompiler extends PostgresQueryCompiler {
  protected override visitIdentifier(node: IdentifierNode): void {
    this.append(quoted(node.name));
  }

  protected override visitFunction(node: FunctionNode): void {
    if (node.func !== FOLDED_LIKE) super.visitFunction(node);
    else for (const part of foldedLike.postgres) this.#write(part, node);
  }

  #write(part: string, { arguments: [text, pattern] }: FunctionNode): void {
    if (part === "T" && text) this.visitNode(text);
    else if (part === "P" && pattern) this.visitNode(pattern);
    else this.append(part);
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
