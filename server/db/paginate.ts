import type { Kysely, SelectQueryBuilder } from "kysely";
import type { Pagination } from "#contract/core/page";
import { type Given, preparedRows } from "./prepared.ts";
import type { Database } from "./tables.ts";
import type { Reader } from "./unit-of-work.ts";

interface PageRequest {
  page: number;
  limit: number;
}

/**
 * A list by pages with the total of the same query (docs/conventions.md, "Lists and pages"), built once for each
 * combination of what is asked (`preparedRows`). The query carries the filters, a total order that `id` completes, and
 * the selection.
 */
export function preparedPage<Asked extends Given, Form, DB, TB extends keyof DB, O>(
  build: (db: Kysely<Database>, asked: Asked, form: Form) => SelectQueryBuilder<DB, TB, O>,
): (db: Reader, request: PageRequest, asked: Asked, form: Form) => Promise<{ data: O[]; pagination: Pagination }> {
  type Window = { limit: number; offset: number };
  const countOf = preparedRows((db, asked: Asked, form: Form) =>
    build(db, asked, form)
      .clearSelect()
      .clearOrderBy()
      .select((eb) => eb.fn.countAll<number>().as("total")),
  );
  const pageOf = preparedRows((db, { limit, offset, ...asked }: Asked & Window, form: Form) =>
    build(db, asked as unknown as Asked, form)
      .limit(limit)
      .offset(offset),
  );
  return async (db, { page, limit }, asked, form) => {
    const [counted, data] = await Promise.all([
      countOf(db, asked, form),
      pageOf(db, { ...asked, limit, offset: (page - 1) * limit }, form),
    ]);
    return { data: data as O[], pagination: { page, limit, total: Number((counted[0] as { total?: number }).total) } };
  };
}
