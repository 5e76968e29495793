import { contentHash } from "#server/audit/chain";
import { auditEntry } from "#server/audit/entry";
import { auditHandle } from "#server/audit/handle";
import type { Installation } from "../fault/processes.ts";

const AT_ONCE = 500;

/** Entries of usual size (about 600 bytes) in one organization's chain, sealed as any other: by the database. */
export async function addEntries(
  { db }: Installation,
  { orgId, partnerId, count }: { orgId: string; partnerId: string; count: number },
  at = new Date().toISOString(),
): Promise<void> {
  for (let made = 0; made < count; made += AT_ONCE) {
    const rows = Array.from({ length: Math.min(AT_ONCE, count - made) }, (_, index) => ({
      ...rowOf(orgId, made + index, at),
      readerPartnerId: partnerId,
    }));
    await auditHandle(db).insertInto("auditLogs").values(rows).execute();
  }
}

function rowOf(orgId: string, index: number, at: string) {
  const entry = auditEntry(
    {
      orgId,
      actorType: "user",
      actorId: "7b2ce6f1-8f2f-4f3a-9a51-0b1c77d5a001",
      actorEmail: "tech@msp.example",
      action: "organization.update",
      resourceType: "organization",
      resourceId: orgId,
      resourceName: `Acme West ${index}`,
      details: {
        changedFields: ["name", "status", "timezone", "billingContact"],
        requestId: "01HZX3J9V3T2D7",
        before: { name: "Acme", status: "trial" },
        after: { name: `Acme West ${index}`, status: "active" },
      },
      ipAddress: "203.0.113.7",
      userAgent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/126.0",
      result: "success",
    },
    { now: new Date(at) },
  );
  return { ...entry, checksum: contentHash(entry) };
}
