import { type AuditContent, parseCanonicalContent } from "#server/audit/chain";
import type { TestServer } from "./harness.ts";

export type WrittenEntry = Omit<AuditContent, "details"> & { details: Record<string, unknown> };

/**
 * Audit entries that satisfy `wanted`, oldest first, whether or not the writer has moved them on. Waits a second for
 * the first, because a refusal is recorded after its answer.
 */
export async function auditOf(server: TestServer, wanted: (entry: WrittenEntry) => boolean): Promise<WrittenEntry[]> {
  for (let tries = 0; ; tries += 1) {
    const found = (await written(server)).filter(wanted);
    if (found.length > 0 || tries === 20) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function written({ db }: TestServer): Promise<WrittenEntry[]> {
  // The outbox first: an entry that moves between the two reads is seen twice rather than never.
  const waiting = await db.selectFrom("auditOutbox").select("entry").orderBy("id").execute();
  const moved = await db.selectFrom("auditLogs").selectAll().orderBy("timestamp").orderBy("id").execute();
  const known = new Set(moved.map((entry) => entry.id));
  const contents = waiting
    .map(({ entry }) => parseCanonicalContent(typeof entry === "string" ? entry : JSON.stringify(entry)))
    .filter((entry) => !known.has(entry.id));
  return [...(moved as AuditContent[]), ...contents].map((entry) => ({
    ...entry,
    details: JSON.parse(entry.details) as Record<string, unknown>,
  }));
}
