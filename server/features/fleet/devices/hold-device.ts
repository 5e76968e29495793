import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Services } from "#server/services";

/** Reports of one device are stored one after the other. */
export async function holdDevice(tx: Tx, { store }: Pick<Services, "store">, deviceId: string): Promise<void> {
  await held(tx.selectFrom("devices").select("id").where("id", "=", deviceId), store.dialect).execute();
}
