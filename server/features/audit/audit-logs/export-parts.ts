import { csvLine, guarded } from "#contract/core/csv";
import { limitReads } from "#server/db/read-bounds";
import type { Call } from "#server/http/call";
import { namesOfActors } from "./actors.ts";
import { rowsOfPage } from "./queries.ts";
import { type AuditRow, fullEntry } from "./view.ts";

/** What one export holds, and of how many. */
export interface Exported {
  ids: string[];
  total: number;
  truncated: boolean;
  oldest: string | null;
}

/** Entries in memory at a time. */
const PART_ROWS = 500;
/** For each part anew: how long a caller takes to read is no matter of the database. */
const PART_MS = 10_000;

type Entry = ReturnType<typeof fullEntry>;

/** An entry that retention removed meanwhile fails the export: its number was recorded. */
async function* parts(call: Call, { ids }: Exported): AsyncGenerator<[Entry, AuditRow][]> {
  for (let at = 0; at < ids.length; at += PART_ROWS) {
    const asked = ids.slice(at, at + PART_ROWS);
    limitReads(call.scope, PART_MS);
    const rows = await rowsOfPage(call.db, { ids: asked }, null);
    if (rows.length !== asked.length) throw new Error(`${asked.length - rows.length} entries are gone`);
    const nameOf = await namesOfActors(call, rows);
    yield rows.map((row) => [fullEntry(row, nameOf), row]);
  }
}

/** `{total, truncated, oldest, data}`. */
export async function* jsonParts(call: Call, found: Exported): AsyncGenerator<string> {
  const { total, truncated, oldest } = found;
  yield `${JSON.stringify({ total, truncated, oldest }).slice(0, -1)},"data":[`;
  let before = "";
  for await (const part of parts(call, found)) {
    yield before + part.map(textOf).join(",");
    before = ",";
  }
  yield "]}";
}

/** The details are JSON as they are stored. */
const textOf = ([{ details: _, ...entry }, row]: [Entry, AuditRow]): string =>
  `${JSON.stringify(entry).slice(0, -1)},"details":${row.details}}`;

const columns = [
  ...["id", "timestamp", "actorId", "actorName", "actorEmail", "action", "resourceType", "resourceId", "resourceName"],
  ...["category", "result", "ipAddress", "userAgent", "details"],
];

/** What a spreadsheet would run as a formula begins with an apostrophe (docs/audit.md, "Exports"). */
export async function* csvParts(call: Call, found: Exported): AsyncGenerator<string> {
  yield csvLine(columns);
  for await (const part of parts(call, found)) yield part.map(lineOf).join("");
}

const lineOf = ([{ user, resource, category }, row]: [Entry, AuditRow]): string =>
  csvLine(
    [
      ...[row.id, row.timestamp, user.id, user.name, user.email, row.action, resource.type, resource.id, resource.name],
      ...[category, row.result, row.ipAddress, row.userAgent, row.details],
    ].map((value) => guarded(value ?? "")),
  );
