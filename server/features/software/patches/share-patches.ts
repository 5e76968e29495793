import type { patchSources } from "#contract/resources/software/patches";
import { chunks } from "#server/db/chunks";
import { shareText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";

/** Reports that use shared rows hold it together; the sweep that deletes unused ones waits for them. */
export const SHARED_ROWS = "patches";

/** New to an organization in a day, whoever else has them: what is left would otherwise tell that somebody does. */
export const newPatchesLimit = { name: "new-patches", max: 10_000, windowSeconds: 86_400 };

type Limiting = Pick<Call, "asSystem" | "services">;

/** How many of so many patches that are new to it the organization may have today. */
export async function takeNew(call: Limiting, orgId: string, wanted: number): Promise<number> {
  const take = (amount: number) =>
    call.asSystem("rate limit", (all) => call.services.limiter.takeWithin(all, newPatchesLimit, orgId, amount));
  const all = await take(wanted);
  if (all.allowed) return wanted;
  const { remaining } = all;
  return remaining > 0 && (await take(remaining)).allowed ? remaining : 0;
}

interface SharedPatch {
  readonly id: string;
  readonly source: (typeof patchSources)[number];
  readonly identity: string;
}

/**
 * Makes the rows that are not there yet, in the order of their ids: reports that make the same ones wait for each other
 * and never in a circle. Needs an unscoped transaction.
 */
export async function sharePatches(tx: Tx, { store }: Call["services"], patches: readonly SharedPatch[]) {
  await shareText(tx, store.dialect, SHARED_ROWS);
  const ordered = patches.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const some of chunks(ordered))
    await tx
      .insertInto("patches")
      .values(some.map((patch) => ({ ...patch, unusedSince: null })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
}
