import type { AuditAction } from "#contract/core/generated/audit-actions";
import { type AuditContent, contentFields, parseCanonicalContent } from "#server/audit/chain";
import type { TestServer } from "./harness.ts";

export type RecordedEntry = Omit<AuditContent, "details"> & { details: Record<string, unknown> };

/** Every audit entry so far, oldest first, including those that are still in the outbox. */
export async function auditEntries(server: TestServer, action?: AuditAction): Promise<RecordedEntry[]> {
  // The outbox first: an entry that moves between the two reads is read twice, never missed.
  const waiting = await server.db.selectFrom("auditOutbox").select("entry").execute();
  const written = await server.db.selectFrom("auditLogs").select(contentFields).execute();
  const contents = [
    ...waiting.map(({ entry }) => parseCanonicalContent(typeof entry === "string" ? entry : JSON.stringify(entry))),
    ...(written as unknown as AuditContent[]),
  ];
  return [...new Map(contents.map((content) => [content.id, content])).values()]
    .filter((content) => action === undefined || content.action === action)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((content) => ({ ...content, details: JSON.parse(content.details) as Record<string, unknown> }));
}
