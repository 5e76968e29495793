import type { SelectQueryBuilder } from "kysely";
import type { Pagination } from "#contract/core/page";

interface PageRequest {
  page: number;
  limit: number;
}

/**
 * One page and the total of the same query (docs/conventions.md, "Lists and pages"). The caller's query carries the
 * filters, a total order that `id` completes, and the selection.
 */
export async function paginate<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  { page, limit }: PageRequest,
): Promise<{ data: O[]; pagination: Pagination }> {
  const counted = query
    .clearSelect()
    .clearOrderBy()
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  const data = query
    .limit(limit)
    .offset((page - 1) * limit)
    .execute();
  const [{ total }, rows] = await Promise.all([counted as Promise<{ total: number }>, data]);
  return { data: rows as O[], pagination: { page, limit, total: Number(total) } };
}
