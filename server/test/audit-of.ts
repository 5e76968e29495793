import { auditEntries, type RecordedEntry } from "./audit-entries.ts";
import type { TestServer } from "./harness.ts";

/** Audit entries that satisfy `wanted`. Waits a second for the first, because a refusal is recorded after its answer. */
export async function auditOf(server: TestServer, wanted: (entry: RecordedEntry) => boolean): Promise<RecordedEntry[]> {
  for (let tries = 0; ; tries += 1) {
    const found = (await auditEntries(server)).filter(wanted);
    if (found.length > 0 || tries === 20) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
