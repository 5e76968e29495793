import type { Endpoint } from "#contract/core/endpoint";
import type { sites } from "#contract/resources/tenancy/sites";
import { refuseSiteRestricted } from "#server/access/org-access";
import { held } from "#server/db/dialect/locks";
import { isForeignKeyViolation } from "#server/db/dialect/violations";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { getWritableSite, siteOutOfReach } from "./queries.ts";

type RemoveCall = typeof sites.remove extends Endpoint<infer T> ? Call<T> : never;

/**
 * Hard delete: contacts and enrollment keys of the site are deleted, decommissioned devices move to the organization's
 * oldest other site (docs/tenancy.md, "Deleting a site"). Memberships confined to the site keep naming it: without any
 * site left they would mean all sites. For the same reason a caller confined to sites cannot delete one.
 */
export async function removeSite(call: RemoveCall) {
  refuseSiteRestricted(call);
  return call.transaction(async (tx) => {
    const { site } = await getWritableSite(call, tx, call.params.id);
    call.audit.note({ resource: { id: site.id, name: site.name }, owner: { orgId: site.orgId }, siteIds: [site.id] });
    const { dialect } = call.services.store;
    const row = await held(tx.selectFrom("sites").select("id").where("id", "=", site.id), dialect).executeTakeFirst();
    if (!row) throw siteOutOfReach(call);
    const deviceCount = await countDevices(tx, site);
    if (deviceCount > 0) throw problem("SITE_NOT_EMPTY", { details: { deviceCount } });
    const gone = { siteId: site.id, orgId: site.orgId, now: call.clock.now() };
    await call.services.hooks.onSiteClearing({ tx, ...gone });
    const removed = await call.services.hooks.onSiteRemoved({ tx, ...gone, record: (entry) => call.audit.also(entry) });
    await deleteRow(tx, site.id);
    call.audit.note({ details: removed });
    const data = { siteId: site.id, siteName: site.name };
    call.emit("site.deleted", { orgId: site.orgId, siteId: site.id, data });
    return { success: true as const };
  });
}

async function countDevices(tx: Tx, site: { id: string; orgId: string }): Promise<number> {
  const { count } = await tx
    .selectFrom("devices")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("orgId", "=", site.orgId)
    .where("siteId", "=", site.id)
    .where("status", "<>", "decommissioned")
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** A device that joined after the count keeps the site: the database refuses to delete it. */
async function deleteRow(tx: Tx, id: string): Promise<void> {
  try {
    await tx.deleteFrom("sites").where("id", "=", id).execute();
  } catch (error) {
    throw isForeignKeyViolation(error) ? problem("SITE_NOT_EMPTY", { cause: error }) : error;
  }
}
