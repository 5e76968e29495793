import { asSystem } from "#server/db/as-system";
import { forgetTitles as forgetSome } from "#server/db/dialect/software-titles";
import type { Services } from "#server/services";

/** Titles that are looked at in one transaction: no report waits for long. */
const BATCH = 500;

/** Forgets titles of software that no device has any more (docs/filters.md, "How devices are found"). Returns how many batches. */
export async function forgetTitles(services: Services, most = BATCH): Promise<number> {
  const db = asSystem(services, "purge expired");
  let [after, batches] = ["" as string | undefined, 0];
  while (after !== undefined) {
    const from: string = after;
    after = await db.transaction().execute((tx) => forgetSome(tx, services.store.dialect, { after: from, most }));
    batches += 1;
  }
  return batches;
}
