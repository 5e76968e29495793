import { usualEntry } from "#fixtures/usual-entry";
import { contentHash } from "#server/audit/chain";
import { auditEntry } from "#server/audit/entry";
import { auditHandle } from "#server/audit/handle";
import type { Installation } from "../fault/processes.ts";

const AT_ONCE = 500;

/** Entries of usual size in one organization's chain, sealed as any other: by the database. */
export async function addEntries(
  { db }: Pick<Installation, "db">,
  { orgId, partnerId, count }: { orgId: string; partnerId: string; count: number },
  at = new Date().toISOString(),
): Promise<void> {
  for (let made = 0; made < count; made += AT_ONCE) {
    const rows = Array.from({ length: Math.min(AT_ONCE, count - made) }, (_, index) => {
      const entry = auditEntry(usualEntry(orgId, made + index), { now: new Date(at) });
      return { ...entry, checksum: contentHash(entry), readerPartnerId: partnerId };
    });
    await auditHandle(db).insertInto("auditLogs").values(rows).execute();
  }
}
