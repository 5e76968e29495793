import type { Tx } from "#server/db/unit-of-work";
import { disableApproverDevices } from "./approver-devices.ts";

/**
 * Whoever belongs to no tenant any more can sign in no more, until they are invited again. False for administrators of
 * the installation, and for people who still have a membership that they accepted.
 */
export async function closeAccount(tx: Tx, userId: string, now: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable("users")
    .set({ status: "disabled", passwordHash: null, mfaSecret: null, mfaPending: null, mfaPendingExpiresAt: null })
    .set({ selectedMembershipId: null, updatedAt: now })
    .where("id", "=", userId)
    .where("isPlatformAdmin", "=", false)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("partnerUsers")
            .select("partnerUsers.id")
            .whereRef("partnerUsers.userId", "=", "users.id")
            .where("partnerUsers.acceptedAt", "is not", null),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("organizationUsers")
            .select("organizationUsers.id")
            .whereRef("organizationUsers.userId", "=", "users.id")
            .where("organizationUsers.acceptedAt", "is not", null),
        ),
      ),
    )
    .executeTakeFirst();
  const closed = numUpdatedRows === 1n;
  if (closed) await disableApproverDevices(tx, userId, now);
  return closed;
}
