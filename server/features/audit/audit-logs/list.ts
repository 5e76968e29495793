import type { Endpoint } from "#contract/core/endpoint";
import type { auditLogs } from "#contract/resources/audit/audit-logs";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { namesOfActors } from "./actors.ts";
import { type AuditFilters, askedOf, countEntries, entryWithId, idsOfPage, rowsOfPage } from "./queries.ts";
import { type AuditRow, fullEntry, viewedEntry } from "./view.ts";

type ListCall = typeof auditLogs.list extends Endpoint<infer T> ? Call<T> : never;
type LogsCall = typeof auditLogs.logs extends Endpoint<infer T> ? Call<T> : never;
type SearchCall = typeof auditLogs.search extends Endpoint<infer T> ? Call<T> : never;
type GetCall = typeof auditLogs.getLog extends Endpoint<infer T> ? Call<T> : never;

/** Flat entries for a viewer, newest first. */
export async function listAuditEntries(call: ListCall) {
  const { rows, pagination } = await pageOf(call, call.query);
  const nameOf = await namesOfActors(call, rows);
  return { entries: rows.map((row) => viewedEntry(row, nameOf)), pagination };
}

/** Full entries, newest first. */
export async function listAuditLogs(call: LogsCall) {
  const { rows, pagination } = await pageOf(call, call.query);
  const nameOf = await namesOfActors(call, rows);
  return { data: rows.map((row) => fullEntry(row, nameOf)), pagination };
}

export async function searchAuditLogs(call: SearchCall) {
  const { rows, pagination } = await pageOf(call, call.query);
  const nameOf = await namesOfActors(call, rows);
  return { data: rows.map((row) => fullEntry(row, nameOf)), query: call.query.q, pagination };
}

/** NOT_FOUND, also for an entry of another tenant. */
export async function getAuditLog(call: GetCall) {
  const row = await entryWithId(call, call.params.id);
  if (!row) throw problem("NOT_FOUND");
  return fullEntry(row, await namesOfActors(call, [row]));
}

/** One page; with `skipCount` total and totalPages are -1 and nothing is counted (docs/audit.md, "Reading entries"). */
async function pageOf(
  call: Call,
  {
    page,
    limit,
    skipCount,
    ...filters
  }: AuditFilters & { page: number; limit: number; skipCount?: boolean | undefined },
): Promise<{ rows: AuditRow[]; pagination: { page: number; limit: number; total: number; totalPages: number } }> {
  const asked = await askedOf(call, filters);
  const form = { dialect: call.services.store.dialect };
  const [counted, found] = await Promise.all([
    skipCount ? undefined : countEntries(call.db, asked, form),
    idsOfPage(call.db, { ...asked, limit, offset: (page - 1) * limit }, form),
  ]);
  const rows = found.length === 0 ? [] : await rowsOfPage(call.db, { ids: found.map(({ id }) => id) }, null);
  const total = counted === undefined ? -1 : Number(counted[0]?.total);
  return { rows, pagination: { page, limit, total, totalPages: total < 0 ? -1 : Math.ceil(total / limit) } };
}
