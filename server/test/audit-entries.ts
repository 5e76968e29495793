import type { AuditAction } from "#contract/core/audit-actions";
import { type AuditContent, parseCanonicalContent } from "#server/audit/chain";
import type { TestServer } from "./harness.ts";

export type OutboxEntry = Omit<AuditContent, "details"> & { details: Record<string, unknown> };

/** Audit entries that wait for the writer, oldest first; the writer does not run in tests that only look here. */
export async function outboxEntries(server: TestServer, action?: AuditAction): Promise<OutboxEntry[]> {
  return (await outboxTexts(server))
    .map(parseCanonicalContent)
    .map((entry) => ({ ...entry, details: JSON.parse(entry.details) as Record<string, unknown> }))
    .filter((entry) => action === undefined || entry.action === action);
}

/** The entries as they are stored: to search for what must not be in them. */
export async function outboxTexts(server: TestServer): Promise<string[]> {
  const rows = await server.db.selectFrom("auditOutbox").select("entry").orderBy("id").execute();
  return rows.map(({ entry }) => (typeof entry === "string" ? entry : JSON.stringify(entry)));
}
