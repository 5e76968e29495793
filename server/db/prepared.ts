import type { CompiledQuery, Kysely, QueryResult } from "kysely";
import { scoped, scopeOfHandle } from "./scoped.ts";
import type { Database } from "./tables.ts";
import { markedScope } from "./tenant-predicate.ts";
import type { Reader } from "./unit-of-work.ts";

/** Stands for a parameter while a query is compiled. */
type Placeholder = string;

const mark = (name: string): Placeholder => `\u0001parameter ${name}`;

interface Compilable<Row> {
  compile(): CompiledQuery<Row>;
}

interface Compiled {
  readonly query: CompiledQuery;
  /** Name of each parameter; undefined = a constant of the query. */
  readonly names: readonly (string | undefined)[];
}

/**
 * A query that every request runs: built and compiled once for each kind of handle, then run with new values. A scoped
 * handle narrows it as it narrows any other query: for each shape of scope it is compiled once, and the caller's own ids
 * are parameters like the rest.
 */
export function prepared<const Names extends string, Row>(
  names: readonly Names[],
  build: (db: Kysely<Database>, parameter: Record<Names, Placeholder>) => Compilable<Row>,
): (db: Reader, values: Record<Names, unknown>) => Promise<Row | undefined> {
  const marks = Object.fromEntries(names.map((name) => [name, mark(name)])) as Record<Names, Placeholder>;
  const compiled = new Map<string, Compiled>();
  return async (reader, values) => {
    const db = reader as Kysely<Database>;
    const scope = scopeOfHandle(db);
    const shape = scope && markedScope(scope, mark);
    const key = `${db.getExecutor().adapter.constructor.name} ${shape?.key}`;
    let known = compiled.get(key);
    if (!known) {
      const query = build(shape ? scoped(db.withoutPlugins(), shape.scope) : db, marks).compile();
      known = { query, names: query.parameters.map(nameOfMark) };
      compiled.set(key, known);
    }
    const given: Record<string, unknown> = shape ? { ...shape.values, ...values } : values;
    const parameters = known.query.parameters.map((value, index) => {
      const name = known.names[index];
      return name === undefined ? value : given[name];
    });
    const result = (await db.executeQuery({ ...known.query, parameters })) as QueryResult<Row>;
    return result.rows[0];
  };
}

const nameOfMark = (value: unknown): string | undefined =>
  typeof value === "string" && value.startsWith(mark("")) ? value.slice(mark("").length) : undefined;
