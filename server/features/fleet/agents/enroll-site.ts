import { lockText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { insertSite } from "#server/features/tenancy/sites/insert-site";
import { problem } from "#server/problem";
import type { AdmittingKey, EnrollCall } from "./enrollment-key.ts";

/**
 * The site of a new device (docs/fleet.md, "Site of a new device"). Devices that arrive together at an organization
 * without sites share one "Default".
 */
export async function siteForNewDevice(call: EnrollCall, tx: Tx, key: AdmittingKey): Promise<string> {
  const named = await namedSite(call, tx, key);
  if (named !== undefined) return named;
  const oldest = await oldestSite(tx, key.orgId);
  if (oldest !== undefined) return oldest;
  await lockText(tx, call.services.store.dialect, `default-site:${key.orgId}`);
  return (await oldestSite(tx, key.orgId)) ?? createDefaultSite(call, tx, key.orgId);
}

/** The site that the key or the device names, if either does. */
export async function namedSite(call: EnrollCall, tx: Tx, key: AdmittingKey): Promise<string | undefined> {
  if (key.siteId !== null) return key.siteId;
  if (call.body.siteId === undefined) return undefined;
  const site = await tx
    .selectFrom("sites")
    .select("id")
    .where("orgId", "=", key.orgId)
    .where("id", "=", call.body.siteId)
    .executeTakeFirst();
  if (!site) throw problem("SITE_NOT_IN_ORG");
  return site.id;
}

async function oldestSite(tx: Tx, orgId: string): Promise<string | undefined> {
  const site = await tx
    .selectFrom("sites")
    .select("id")
    .where("orgId", "=", orgId)
    .orderBy("createdAt")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return site?.id;
}

async function createDefaultSite(call: EnrollCall, tx: Tx, orgId: string): Promise<string> {
  const id = call.random.uuid();
  const blank = { address: null, contact: null, settings: {} };
  await insertSite(call, tx, { id, orgId, name: "Default", timezone: "UTC", ...blank });
  call.audit.also({
    action: "site.create",
    resource: { id, name: "Default" },
    owner: { orgId },
    siteIds: [id],
    details: { via: "enroll" },
  });
  return id;
}
