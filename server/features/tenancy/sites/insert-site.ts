import type { Insertable } from "kysely";
import type { SitesTable } from "#server/db/tables/tenancy";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";

type Chosen = Omit<Insertable<SitesTable>, "createdAt" | "updatedAt">;

/** Writes a site of an organization that the caller was found to reach. */
export async function insertSite(call: Pick<Call, "clock" | "emit">, tx: Tx, chosen: Chosen): Promise<void> {
  const now = call.clock.now();
  await tx
    .insertInto("sites")
    .values({ ...chosen, createdAt: now, updatedAt: now })
    .execute();
  const { id, orgId, name } = chosen;
  call.emit("site.created", { orgId, siteId: id, data: { siteId: id, siteName: name } });
}
