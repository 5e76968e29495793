import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import type { Services } from "#server/services";

/** Reports of one device are stored one after the other, and none for an organization that it has left. */
export async function holdDevice(tx: Tx, { store }: Pick<Services, "store">, deviceId: string): Promise<void> {
  const row = tx.selectFrom("devices").select("id").where("id", "=", deviceId);
  if (!(await held(row, store.dialect).executeTakeFirst())) throw leftMeanwhile();
}

/**
 * The device has moved since its token was read. The next attempt is judged anew: an agent that was told that its
 * credentials are wrong would give up.
 */
export const leftMeanwhile = () => problem("SERVICE_UNAVAILABLE", { retryAfterSeconds: 1 });
