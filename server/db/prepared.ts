import { type CompiledQuery, createQueryId, type Kysely, type QueryResult, type RootOperationNode } from "kysely";
import { boundedReadOf } from "./dialect/bounded-read.ts";
import { fairTurn } from "./dialect/fair-turn.ts";
import { singleReadOf } from "./dialect/single-read.ts";
import { boundsOf } from "./read-bounds.ts";
import { markedScope } from "./scope.ts";
import { scoped, scopeOfHandle } from "./scoped.ts";
import type { Database } from "./tables.ts";
import type { Narrowing } from "./tenant-scope.ts";
import type { Reader } from "./unit-of-work.ts";

/** Stands for a parameter while a query is compiled. */
type Placeholder = string;

const mark = (name: string): Placeholder => `\u0001parameter ${name}`;

export interface Compilable<Row> {
  compile(): CompiledQuery<Row>;
}

interface Compiled {
  readonly query: CompiledQuery;
  /** Name of each parameter; undefined = a constant of the query. */
  readonly names: readonly (string | undefined)[];
}

/** Queries that differ by what the caller asked for; the ones compiled first are built anew. */
const COMPILED_MAX = 500;

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
  const own = (db: Kysely<Database>) => build(db, marks);
  return async (reader, values) => {
    const query = compiledFor<Row>(compiled, reader, { shape: "", values, build: own, by: "key" });
    return (await runByKey<Row>(reader, query))[0];
  };
}

/** What a list is asked for. Texts and numbers become parameters; the rest decides what the query looks like. */
export type Given = Readonly<Record<string, string | number | boolean | null | undefined | readonly string[]>>;

/**
 * The same for a query whose form depends on what is asked for, such as a list with filters: `build` is called once for
 * each combination of what is given, what is not, and `form`. It sees the values themselves in type only: it may hand
 * them to the query, and ask whether they are there.
 */
export function preparedRows<Asked extends Given, Form, Row>(
  build: (db: Kysely<Database>, asked: Asked, form: Form) => Compilable<Row>,
  { by }: Narrowing = {},
): (db: Reader, asked: Asked, form: Form) => Promise<Row[]> {
  const compiled = new Map<string, Compiled>();
  return (reader, asked, form) => {
    const { shape, marks, values } = marked(asked);
    const own = (db: Kysely<Database>) => build(db, marks as Asked, form);
    const asking = { shape: `${shape} ${JSON.stringify(form)}`, values, build: own, by };
    const query = compiledFor<Row>(compiled, reader, asking);
    return by === "key" && areFew(asked) ? runByKey<Row>(reader, query) : run<Row>(reader, query);
  };
}

/** So many rows are read at once without holding up others. */
const FEW_KEYS = 100;

const areFew = (asked: Given): boolean =>
  Object.values(asked).every((value) => !Array.isArray(value) || value.length <= FEW_KEYS);

/** A list becomes one parameter (`among`), however long it is. */
function marked(asked: Given) {
  const values: Record<string, unknown> = {};
  const marks: Record<string, unknown> = {};
  let shape = "";
  for (const [name, value] of Object.entries(asked)) {
    if (value === undefined) continue;
    const varies = value !== null && typeof value !== "boolean";
    marks[name] = varies ? mark(name) : value;
    if (varies) values[name] = typeof value === "object" ? JSON.stringify(value) : value;
    shape += varies ? `${name} ` : `${name}=${value} `;
  }
  return { shape, marks, values };
}

interface Asking<Row> {
  shape: string;
  values: Readonly<Record<string, unknown>>;
  build(db: Kysely<Database>): Compilable<Row>;
  by: Narrowing["by"];
}

/** A query that is compiled in two steps. */
export interface CompilableOnce<Row> extends Compilable<Row> {
  toOperationNode(): RootOperationNode;
}

/**
 * Runs a query that is compiled, and planned, for this once, within the bounds of its request. A thousand conditions take
 * tens of milliseconds to narrow to the caller's scope and as many to be written out: others have their turn between.
 */
export async function runOnce<Row>(
  reader: Reader,
  build: (db: Kysely<Database>) => CompilableOnce<Row>,
  narrowing: Narrowing = {},
): Promise<Row[]> {
  const db = reader as Kysely<Database>;
  const scope = scopeOfHandle(db);
  await fairTurn();
  const node = build(scope ? scoped(db.withoutPlugins(), scope, narrowing) : db).toOperationNode();
  await fairTurn();
  return run<Row>(reader, db.getExecutor().compileQuery(node, createQueryId()), { once: true });
}

async function run<Row>(reader: Reader, query: CompiledQuery, { once = false } = {}): Promise<Row[]> {
  const db = reader as Kysely<Database>;
  const bounds = boundsOf(scopeOfHandle(db));
  const read = bounds && boundedReadOf(db);
  if (read) return (await read(query.sql, query.parameters, once ? { ...bounds, once } : bounds)) as Row[];
  return ((await db.executeQuery(query)) as QueryResult<Row>).rows;
}

async function runByKey<Row>(reader: Reader, query: CompiledQuery): Promise<Row[]> {
  const read = singleReadOf(reader as Kysely<Database>);
  return read ? ((await read(query.sql, query.parameters)) as Row[]) : run<Row>(reader, query);
}

/** The query with the values of this call. */
function compiledFor<Row>(
  compiled: Map<string, Compiled>,
  reader: Reader,
  { shape, values, build, by }: Asking<Row>,
): CompiledQuery {
  const db = reader as Kysely<Database>;
  const scope = scopeOfHandle(db);
  const narrowed = scope && markedScope(scope, mark);
  const key = `${db.getExecutor().adapter.constructor.name} ${narrowed?.key} ${shape}`;
  let known = compiled.get(key);
  if (!known) {
    const query = build(narrowed ? scoped(db.withoutPlugins(), narrowed.scope, { by }) : db).compile();
    known = { query, names: query.parameters.map(nameOfMark) };
    if (compiled.size >= COMPILED_MAX) compiled.delete(compiled.keys().next().value as string);
    compiled.set(key, known);
  }
  const { query, names } = known;
  const own = narrowed?.values;
  const parameters = query.parameters.map((value, index) => {
    const name = names[index];
    if (name === undefined) return value;
    return name in values ? values[name] : own?.[name];
  });
  return { ...query, parameters };
}

const nameOfMark = (value: unknown): string | undefined =>
  typeof value === "string" && value.startsWith(mark("")) ? value.slice(mark("").length) : undefined;
