import { contentFields } from "#server/audit/chain";
import type { RecordedEntry } from "../audit-entries.ts";
import type { Answer } from "../harness.ts";
import type { Swept } from "./sweep.ts";

/** Audit entries of the request with this answer, after the outbox is empty. */
export async function entriesOf({ server }: Swept, answer: Answer): Promise<RecordedEntry[]> {
  await server.settled();
  const rows = await server.db
    .selectFrom("auditLogs")
    .select(contentFields)
    .where("details", "like", `%"requestId":"${answer.headers.get("x-request-id")}"%`)
    .execute();
  return rows.map((row) => ({ ...row, details: JSON.parse(row.details) as Record<string, unknown> }));
}
