import { holdOrganization } from "#server/access/hold-organization";
import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import type { EventServices } from "#server/room-hooks";
import { type HeldElevation, heldColumns } from "./columns.ts";

type Stores = Pick<EventServices, "store">;

/**
 * One order for all: organization, device, request. Whoever ends commands with a device comes to the requests last, and
 * who holds a request waits for no command (`cancel-actuation.ts`).
 */
export async function holdElevation(
  tx: Tx,
  services: Stores,
  { id, orgId }: { id: string; orgId: string },
): Promise<HeldElevation | undefined> {
  const row = tx.selectFrom("elevationRequests").select(heldColumns).where("id", "=", id).where("orgId", "=", orgId);
  return held(row, services.store.dialect).executeTakeFirst();
}

/** The machine, wherever it is now: it may have left the organization. */
export function holdMachine(tx: Tx, { store }: Stores, id: string) {
  const row = tx
    .selectFrom("devices")
    .select(["id", "orgId", "siteId", "hostname", "displayName", "status", "deviceRole", "osVersion"])
    .select(["watchdogStatus", "agentTokenHash"])
    .where("id", "=", id);
  return held(row, store.dialect).executeTakeFirst();
}

export type HeldMachine = NonNullable<Awaited<ReturnType<typeof holdMachine>>>;

/** Refuses what opens rights in an organization that is not in use (docs/elevation-requests.md, "Where it works"). */
export async function refuseOutOfUse(tx: Tx, services: Stores, orgId: string): Promise<void> {
  const { status, partnerStatus } = await holdTenant(tx, services, orgId);
  if (status === undefined) throw problem("NOT_FOUND");
  if (status === "suspended") throw problem("ORG_SUSPENDED");
  if (status !== "active" && status !== "trial") throw problem("ORG_READ_ONLY", { details: { status } });
  if (partnerStatus !== "active") throw problem("PARTNER_INACTIVE");
}

/** Whether anything may be approved there. */
export async function isInUse(tx: Tx, services: Stores, orgId: string): Promise<boolean> {
  const { status, partnerStatus } = await holdTenant(tx, services, orgId);
  return (status === "active" || status === "trial") && partnerStatus === "active";
}

/** Undefined: deleted. */
async function holdTenant(tx: Tx, services: Stores, orgId: string) {
  const org = await holdOrganization(tx, services, orgId);
  const partner = await tx
    .selectFrom("organizations")
    .innerJoin("partners", "partners.id", "organizations.partnerId")
    .select(["partners.status", "partners.deletedAt"])
    .where("organizations.id", "=", orgId)
    .executeTakeFirst();
  const deleted = !org || org.orgDeletedAt !== null || !partner || partner.deletedAt !== null;
  return { status: deleted ? undefined : org.orgStatus, partnerStatus: partner?.status };
}

/** Refuses what a device that is out of service, or shut away, cannot carry out. */
export function refuseOutOfService({ status }: Pick<HeldMachine, "status">): void {
  if (status === "decommissioned") throw problem("DEVICE_DECOMMISSIONED");
  if (status === "quarantined" || status === "pending") throw problem("INVALID_STATE", { details: { status } });
}
