import { lockRow } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import type { Services } from "#server/services";

/**
 * Refuses one device more than the partner or the organization may have, counting those that are not
 * decommissioned (403 `DEVICE_LIMIT_REACHED`). The locks it takes, partner before organization, last until the
 * transaction ends, so parallel callers cannot pass a cap. Needs an unscoped transaction: a caller confined to some
 * organizations must still meet the partner's cap.
 */
export async function refuseOverDeviceCap(tx: Tx, { store }: Pick<Services, "store">, orgId: string): Promise<void> {
  const org = await tx
    .selectFrom("organizations")
    .innerJoin("partners", "partners.id", "organizations.partnerId")
    .where("organizations.id", "=", orgId)
    .select(["partnerId", "organizations.maxDevices as orgMax", "partners.maxDevices as partnerMax"])
    .executeTakeFirst();
  if (!org) throw problem("NOT_FOUND");
  if (org.partnerMax !== null) {
    await lockRow(tx, store.dialect, "partners", org.partnerId);
    refuseOver(await countOfPartner(tx, org.partnerId), org.partnerMax);
  }
  await refuseOverMax(tx, { store }, orgId, org.orgMax);
}

/** The same of the organization alone: for a device that is in the partner already. */
export async function refuseOverOrgCap(tx: Tx, services: Pick<Services, "store">, orgId: string): Promise<void> {
  const org = await tx.selectFrom("organizations").select("maxDevices").where("id", "=", orgId).executeTakeFirst();
  if (!org) throw problem("NOT_FOUND");
  await refuseOverMax(tx, services, orgId, org.maxDevices);
}

async function refuseOverMax(
  tx: Tx,
  { store }: Pick<Services, "store">,
  orgId: string,
  max: number | null,
): Promise<void> {
  if (max === null) return;
  await lockRow(tx, store.dialect, "organizations", orgId);
  refuseOver(await countOfOrg(tx, orgId), max);
}

function refuseOver(current: number, max: number): void {
  if (current >= max) throw problem("DEVICE_LIMIT_REACHED", { details: { current, max } });
}

const live = (tx: Tx) => tx.selectFrom("devices").where("devices.status", "<>", "decommissioned");

async function countOfOrg(tx: Tx, orgId: string): Promise<number> {
  const { count } = await live(tx)
    .where("orgId", "=", orgId)
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Devices of deleted organizations do not count. */
async function countOfPartner(tx: Tx, partnerId: string): Promise<number> {
  const { count } = await live(tx)
    .innerJoin("organizations", "organizations.id", "devices.orgId")
    .where("organizations.partnerId", "=", partnerId)
    .where("organizations.deletedAt", "is", null)
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}
