import type { SelectQueryBuilder } from "kysely";
import type { Endpoint } from "#contract/core/endpoint";
import type { auditLogs } from "#contract/resources/audit/audit-logs";
import { paginate } from "#server/db/paginate";
import type { Database } from "#server/db/tables";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { namesOfActors } from "./actors.ts";
import { auditEntries, matching, visible } from "./queries.ts";
import { type AuditRow, fullEntry, viewedEntry } from "./view.ts";

type ListCall = typeof auditLogs.list extends Endpoint<infer T> ? Call<T> : never;
type LogsCall = typeof auditLogs.logs extends Endpoint<infer T> ? Call<T> : never;
type SearchCall = typeof auditLogs.search extends Endpoint<infer T> ? Call<T> : never;
type GetCall = typeof auditLogs.getLog extends Endpoint<infer T> ? Call<T> : never;

/** Flat entries for a viewer, newest first. */
export async function listAuditEntries(call: ListCall) {
  const { rows, pagination } = await pageOf(call, await auditEntries(call, call.query));
  const nameOf = await namesOfActors(call, rows);
  return { entries: rows.map((row) => viewedEntry(row, nameOf)), pagination };
}

/** Full entries, newest first. */
export async function listAuditLogs(call: LogsCall) {
  const { rows, pagination } = await pageOf(call, await auditEntries(call, call.query));
  const nameOf = await namesOfActors(call, rows);
  return { data: rows.map((row) => fullEntry(row, nameOf)), pagination };
}

export async function searchAuditLogs(call: SearchCall) {
  const found = matching(await auditEntries(call, call.query), call.query.q);
  const { rows, pagination } = await pageOf(call, found);
  const nameOf = await namesOfActors(call, rows);
  return { data: rows.map((row) => fullEntry(row, nameOf)), query: call.query.q, pagination };
}

/** NOT_FOUND, also for an entry of another tenant. */
export async function getAuditLog(call: GetCall) {
  const row = await visible(call).where("auditLogs.id", "=", call.params.id).executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  return fullEntry(row, await namesOfActors(call, [row]));
}

/** One page; with `skipCount` total and totalPages are -1 and nothing is counted (docs/audit.md, "Reading entries"). */
async function pageOf(
  call: Pick<ListCall, "query">,
  entries: SelectQueryBuilder<Database, "auditLogs", AuditRow>,
): Promise<{ rows: AuditRow[]; pagination: { page: number; limit: number; total: number; totalPages: number } }> {
  const { page, limit, skipCount } = call.query;
  const ordered = entries.orderBy("auditLogs.timestamp", "desc").orderBy("auditLogs.id", "desc");
  if (skipCount) {
    const rows = await ordered
      .limit(limit)
      .offset((page - 1) * limit)
      .execute();
    return { rows, pagination: { page, limit, total: -1, totalPages: -1 } };
  }
  const { data, pagination } = await paginate(ordered, { page, limit });
  return { rows: data, pagination: { ...pagination, totalPages: Math.ceil(pagination.total / limit) } };
}
