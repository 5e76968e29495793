import type { CompiledQuery, Kysely, QueryResult } from "kysely";
import type { Database } from "./tables.ts";

/** Stands for a parameter while a query is compiled. */
type Placeholder = string;

const mark = (name: string): Placeholder => `\u0001parameter ${name}`;

interface Compilable {
  compile(): CompiledQuery;
}

/**
 * A query that every request runs: built and compiled once per database handle kind, then run with new
 * values. For unscoped look-ups only: a scoped handle narrows by its caller and must build anew.
 */
export function prepared<Row, Names extends string>(
  names: readonly Names[],
  build: (db: Kysely<Database>, parameter: Record<Names, Placeholder>) => Compilable,
): (db: Kysely<Database>, values: Record<Names, unknown>) => Promise<Row | undefined> {
  const marks = Object.fromEntries(names.map((name) => [name, mark(name)])) as Record<Names, Placeholder>;
  const compiled = new Map<string, CompiledQuery>();
  return async (db, values) => {
    const adapter = db.getExecutor().adapter.constructor.name;
    let query = compiled.get(adapter);
    if (!query) {
      query = build(db, marks).compile();
      compiled.set(adapter, query);
    }
    const parameters = query.parameters.map((value) => {
      const name = names.find((candidate) => marks[candidate] === value);
      return name === undefined ? value : values[name];
    });
    const result = (await db.executeQuery({ ...query, parameters })) as QueryResult<Row>;
    return result.rows[0];
  };
}
