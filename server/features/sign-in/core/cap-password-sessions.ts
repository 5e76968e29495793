import type { Tx } from "#server/db/unit-of-work";
import { after, HOUR } from "#server/platform/clock";
import { type BegunIn, tenantColumns } from "./revoke-sessions.ts";

/** How long sessions begun by password outlast the moment their tenant began to enforce single sign-on. */
const OUTLAST_MS = 12 * HOUR;

/** The tenant enforces single sign-on from now on: its password sessions end within half a day. Needs an unscoped handle. */
export async function capPasswordSessions(tx: Tx, tenant: BegunIn, now: string): Promise<void> {
  const { orgId, partnerId } = tenantColumns(tenant);
  const end = after(now, OUTLAST_MS);
  await tx
    .updateTable("sessions")
    .set({ absoluteExpiresAt: end })
    .where("memberOrgId", "is not distinct from", orgId)
    .where("memberPartnerId", "is not distinct from", partnerId)
    .where("ssoProviderId", "is", null)
    .where("revokedAt", "is", null)
    .where("absoluteExpiresAt", ">", end)
    .execute();
}
