import { type IdentifierNode, PostgresQueryCompiler, SqliteQueryCompiler } from "kysely";
import { snakeCase } from "../naming.ts";

/**
 * Names are camelCase in code and snake_case in the database. The compiler writes them so: a plugin
 * would copy the whole query first, which costs more than compiling it (measured).
 */
export class SnakeCaseSqliteCompiler extends SqliteQueryCompiler {
  protected override visitIdentifier(node: IdentifierNode): void {
    this.append(quoted(node.name));
  }
}

export class SnakeCasePostgresCompiler extends PostgresQueryCompiler {
  protected override visitIdentifier(node: IdentifierNode): void {
    this.append(quoted(node.name));
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
