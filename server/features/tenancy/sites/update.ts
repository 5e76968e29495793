import type { Endpoint } from "#contract/core/endpoint";
import type { sites } from "#contract/resources/tenancy/sites";
import { changedFields } from "#server/audit/changed-fields";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { getSite, getWritableSite, siteOutOfReach } from "./queries.ts";

type UpdateCall = typeof sites.update extends Endpoint<infer T> ? Call<T> : never;

/** A caller confined to sites may change those; no site changes its organization. */
export async function updateSite(call: UpdateCall) {
  const { orgId, ...fields } = call.body;
  return call.transaction(async (tx) => {
    const { site } = await getWritableSite(call, tx, call.params.id);
    call.audit.note({ resource: { id: site.id, name: site.name }, owner: { orgId: site.orgId }, siteIds: [site.id] });
    if (orgId !== undefined && orgId !== site.orgId) throw problem("FIELD_IMMUTABLE", { details: { field: "orgId" } });
    if (Object.keys(fields).length === 0) throw problem("NO_UPDATES");
    const updated = await tx
      .updateTable("sites")
      .set({ ...fields, updatedAt: call.clock.now() })
      .where("id", "=", site.id)
      .executeTakeFirst();
    if (updated.numUpdatedRows !== 1n) throw siteOutOfReach(call);
    const changed = changedFields(site, fields);
    call.audit.note({ details: { changedFields: changed } });
    if (changed.length > 0) {
      const siteName = fields.name ?? site.name;
      const data = { siteId: site.id, siteName, changedFields: changed };
      call.emit("site.updated", { orgId: site.orgId, siteId: site.id, data });
    }
    return getSite(call, tx, site.id);
  });
}
