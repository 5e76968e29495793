import { type AccessibleOrg, refuseReadOnly } from "#server/access/org-access";
import { held, shared } from "#server/db/dialect/locks";
import { isForeignKeyViolation } from "#server/db/dialect/violations";
import type { Tx } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import type { Services } from "#server/services";
import { refuseOverOrgCap } from "./caps.ts";
import { shareFields } from "./custom-values.ts";
import { lastState } from "./last-state.ts";
import { appendAvailability, reachability } from "./presence.ts";

interface Moving {
  readonly device: { readonly id: string; readonly orgId: string };
  readonly source: AccessibleOrg;
  readonly to: { readonly orgId: string; readonly siteId: string };
}

/**
 * Takes the row over with what describes the machine, which the database carries along; the rooms detach what happened
 * under the old organization. Organizations are held before the device, as whoever changes their status does. Needs an
 * unscoped transaction. Answers what the rooms say for the audit entry of the old organization.
 */
export async function carryOver(
  tx: Tx,
  services: Services,
  { device: { id, orgId }, source, to }: Moving,
): Promise<Record<string, unknown>> {
  await refuseClosed(tx, services, [orgId, to.orgId]);
  await refuseSiteOutside(tx, to);
  await refuseOverOrgCap(tx, services, to.orgId);
  await shareFields(tx, services, source.partnerId);
  const row = tx.selectFrom("devices").select(["orgId", "status", "provisionKeyExpiresAt"]).where("id", "=", id);
  const before = await held(row, services.store.dialect).executeTakeFirst();
  if (before?.orgId !== orgId) throw problem("CONCURRENT_MODIFICATION");
  if (before.status === "decommissioned") throw problem("ALREADY_DECOMMISSIONED");
  const state = reachability(before.status) ?? (await lastState(tx, { id, orgId }));
  const now = services.clock.now();
  const left = await services.hooks.onDeviceMoved({ tx, services, deviceId: id, orgId, toOrgId: to.orgId, now });
  const moved = await tx
    .updateTable("devices")
    .set({
      ...to,
      // What the old organization gave it to enroll with works no more.
      ...{ enrollmentProof: null, enrollmentProofUntil: null, enrollmentSecretHash: null, provisionKeyHash: null },
      provisionKeyExpiresAt: earlier(before.provisionKeyExpiresAt, now),
      updatedAt: now,
    })
    .where("id", "=", id)
    .where("orgId", "=", orgId)
    .where("status", "=", before.status)
    .executeTakeFirst()
    .catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? problem("SITE_NOT_IN_ORG", { cause: error }) : error;
    });
  if (moved.numUpdatedRows !== 1n) throw problem("CONCURRENT_MODIFICATION");
  if (state === "online") await appendAvailability(tx, services, state, [{ id, orgId: to.orgId }]);
  return left;
}

/** Neither begins to be wound down before the move is done. */
async function refuseClosed(tx: Tx, { store }: Services, ids: readonly string[]): Promise<void> {
  const rows = tx
    .selectFrom("organizations")
    .select("status")
    .where("id", "in", ids)
    .where("deletedAt", "is", null)
    .orderBy("id");
  const orgs = await shared(rows, store.dialect).execute();
  if (orgs.length !== ids.length) throw problem("CONCURRENT_MODIFICATION");
  for (const org of orgs) refuseReadOnly(org);
}

async function refuseSiteOutside(tx: Tx, { orgId, siteId }: Moving["to"]): Promise<void> {
  const site = tx.selectFrom("sites").select("id").where("id", "=", siteId).where("orgId", "=", orgId);
  if (!(await site.executeTakeFirst())) throw problem("SITE_NOT_IN_ORG");
}

const earlier = (end: string | null, now: string) => (end !== null && end > now ? now : end);
