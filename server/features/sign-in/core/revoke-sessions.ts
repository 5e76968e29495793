import type { Tx } from "#server/db/unit-of-work";

/** Where sessions began: in an organization, or in a partner itself. */
export interface BegunIn {
  readonly orgId: string | null;
  readonly partnerId: string | null;
}

interface Which {
  userId: string;
  /** Just this one. */
  only?: string;
  /** All but this one. */
  except?: string;
  /** Those of this tenant. */
  begunIn?: BegunIn;
  /** Those that this identity provider began. */
  begunThrough?: string;
}

/** Ends sessions of a user from this commit on, everywhere; answers how many. Needs an unscoped handle. */
export async function revokeSessions(tx: Tx, which: Which, reason: string, now: string): Promise<number> {
  let query = tx
    .updateTable("sessions")
    .set({ revokedAt: now, revokedReason: reason })
    .where("userId", "=", which.userId)
    .where("revokedAt", "is", null);
  if (which.only !== undefined) query = query.where("id", "=", which.only);
  if (which.except !== undefined) query = query.where("id", "<>", which.except);
  if (which.begunThrough !== undefined) query = query.where("ssoProviderId", "=", which.begunThrough);
  if (which.begunIn !== undefined) {
    const { orgId, partnerId } = tenantColumns(which.begunIn);
    query = query
      .where("memberOrgId", "is not distinct from", orgId)
      .where("memberPartnerId", "is not distinct from", partnerId);
  }
  return Number((await query.executeTakeFirst()).numUpdatedRows);
}

/** As a session keeps its tenant: the partner above an organization is another one. */
export const tenantColumns = ({ orgId, partnerId }: BegunIn): BegunIn => ({
  orgId,
  partnerId: orgId === null ? partnerId : null,
});

/** Ends one session, whosever it is. Needs an unscoped handle. */
export async function revokeSession(tx: Tx, sessionId: string, reason: string, now: string): Promise<void> {
  await tx
    .updateTable("sessions")
    .set({ revokedAt: now, revokedReason: reason })
    .where("id", "=", sessionId)
    .where("revokedAt", "is", null)
    .execute();
}
