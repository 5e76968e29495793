import type { Json } from "#server/db/column-types";
import type { Tx } from "#server/db/unit-of-work";

interface Profile {
  name?: string | undefined;
  avatarUrl?: string | null | undefined;
  preferences?: Json;
}

/** Changes what a person says about themselves; what is left out stays. */
export async function updateProfile(tx: Tx, userId: string, change: Profile, now: string): Promise<void> {
  await tx
    .updateTable("users")
    .set({ ...change, updatedAt: now })
    .where("id", "=", userId)
    .execute();
}
