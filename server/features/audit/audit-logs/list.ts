import type { Endpoint } from "#contract/core/endpoint";
import type { auditLogs } from "#contract/resources/audit/audit-logs";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { namesOfActors } from "./actors.ts";
import {
  type Asked,
  type AuditFilters,
  askedOf,
  countEntries,
  entryWithId,
  idsAndTotal,
  idsOfPage,
  looksIntoRows,
  rowsOfPage,
} from "./queries.ts";
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
  const { ids, total } = await idsOf(call, asked, { page, limit, counted: skipCount !== true });
  const rows = ids.length === 0 ? [] : await rowsOfPage(call.db, { ids }, null);
  return { rows, pagination: { page, limit, total, totalPages: total < 0 ? -1 : Math.ceil(total / limit) } };
}

/** The ids of a page, and how many there are in all: -1 where they are not counted. */
async function idsOf(
  { db, services }: Call,
  asked: Asked,
  { page, limit, counted }: { page: number; limit: number; counted: boolean },
): Promise<{ ids: string[]; total: number }> {
  const form = { dialect: services.store.dialect };
  const place = { ...asked, limit, offset: (page - 1) * limit };
  const idOf = ({ id }: { id: string }) => id;
  if (!counted) return { ids: (await idsOfPage(db, place, form)).map(idOf), total: -1 };
  const countAll = async () => Number((await countEntries(db, asked, form))[0]?.total);
  if (looksIntoRows(asked)) {
    const found = await idsAndTotal(db, place, form);
    return { ids: found.map(idOf), total: Number(found[0]?.total ?? (page === 1 ? 0 : await countAll())) };
  }
  const [total, found] = await Promise.all([countAll(), idsOfPage(db, place, form)]);
  return { ids: found.map(idOf), total };
}
