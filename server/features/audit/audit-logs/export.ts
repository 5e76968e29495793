import type { Endpoint } from "#contract/core/endpoint";
import type { auditLogs } from "#contract/resources/audit/audit-logs";
import { takeAttempt } from "#server/access/attempts";
import type { Limit } from "#server/access/rate-limit";
import { type Call, user } from "#server/http/call";
import { StreamedAnswer } from "#server/http/implement";
import { csvParts, type Exported, jsonParts } from "./export-parts.ts";
import { limited } from "./limited.ts";
import { type AuditFilters, askedOf, countEntries, newestEntries } from "./queries.ts";

type ExportCall = typeof auditLogs.export extends Endpoint<infer T> ? Call<T> : never;
type CsvCall = typeof auditLogs.exportCsv extends Endpoint<infer T> ? Call<T> : never;

/** Entries of one export: whoever wants more continues where it ended. */
export const EXPORTED_MAX = 10_000;

/** Per user: enough to follow a long log, not to keep a database busy. */
export const exportLimit: Limit = { name: "audit-export", max: 30, windowSeconds: 60 };

/** The newest entries as JSON or CSV (docs/audit.md, "Exports"). */
export async function exportAuditLogs(call: ExportCall): Promise<never> {
  const { format = "json", orgId, filters, dateRange } = call.body ?? {};
  return exported(call, format, { orgId, ...filters, ...dateRange });
}

export const exportAuditCsv = (call: CsvCall): Promise<never> => exported(call, "csv", call.query);

async function exported(call: Call, format: "json" | "csv", filters: AuditFilters): Promise<never> {
  const found = await limited((one: Call) => findExported(one, filters))(call);
  note(call, format, filters, found);
  // The pipeline knows the type; what the contract names is the text that it makes.
  return (format === "csv" ? asCsv(call, found) : jsonAnswer(call, found)) as never;
}

/** What will be exported is settled before the first part is sent: the entry of the export tells the whole of it. */
async function findExported(call: Call, filters: AuditFilters): Promise<Exported> {
  const asked = await askedOf(call, filters);
  await takeAttempt(call.services, exportLimit, user(call).userId);
  const form = { dialect: call.services.store.dialect };
  const found = await newestEntries(call.db, { ...asked, limit: EXPORTED_MAX }, form);
  const counted = found.length < EXPORTED_MAX ? 0 : Number((await countEntries(call.db, asked, form))[0]?.total);
  const total = Math.max(found.length, counted);
  return {
    ids: found.map(({ id }) => id),
    total,
    truncated: total > found.length,
    oldest: found.at(-1)?.timestamp ?? null,
  };
}

function note(call: Call, format: string, { from, to, ...filters }: AuditFilters, found: Exported): void {
  const { ids, total, truncated } = found;
  call.audit.note({
    details: {
      format,
      rowCount: ids.length,
      total,
      truncated,
      filters: given(filters),
      dateRange: given({ from, to }),
    },
  });
}

const given = (fields: object) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""));

function asCsv(call: Call, found: Exported): StreamedAnswer {
  call.setHeader("Content-Disposition", `attachment; filename="audit-logs-${call.clock.now().slice(0, 10)}.csv"`);
  call.setHeader("X-Total-Count", String(found.total));
  call.setHeader("X-Truncated", String(found.truncated));
  if (found.oldest !== null) call.setHeader("X-Oldest", found.oldest);
  return new StreamedAnswer("text/csv; charset=utf-8", csvParts(call, found));
}

const jsonAnswer = (call: Call, found: Exported) =>
  new StreamedAnswer("application/json; charset=utf-8", jsonParts(call, found));
