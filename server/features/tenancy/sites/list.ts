import type { ExpressionBuilder } from "kysely";
import type { Endpoint } from "#contract/core/endpoint";
import type { sites } from "#contract/resources/tenancy/sites";
import { getNamedOrg, orgsInList } from "#server/access/org-access";
import { withOrgNames } from "#server/access/place-names";
import { preparedPage } from "#server/db/paginate";
import type { Database } from "#server/db/tables";
import type { Call } from "#server/http/call";
import { siteColumns } from "./queries.ts";

type ListCall = typeof sites.list extends Endpoint<infer T> ? Call<T> : never;

/** Oldest first, with the number of devices that are not decommissioned (docs/tenancy.md, "Sites"). */
export async function listSites(call: ListCall) {
  const orgId = call.query.orgId ?? call.query.organizationId;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const page = await pageOf(call.db, call.query, { orgId }, null);
  const counted = page.data.map((row) => ({ ...row, deviceCount: Number(row.deviceCount ?? 0) }));
  return { ...page, data: await withOrgNames(call.db, counted) };
}

const pageOf = preparedPage((db, { orgId }: { orgId: string | undefined }) =>
  db
    .selectFrom("sites")
    .select(siteColumns)
    .select(deviceCount)
    .where("sites.orgId", "in", orgsInList(orgId))
    .orderBy("sites.createdAt")
    .orderBy("sites.id"),
);

const deviceCount = (eb: ExpressionBuilder<Database, "sites">) =>
  eb
    .selectFrom("devices")
    .select((inner) => inner.fn.countAll<number>().as("n"))
    .whereRef("devices.orgId", "=", "sites.orgId")
    .whereRef("devices.siteId", "=", "sites.id")
    .where("devices.status", "<>", "decommissioned")
    .as("deviceCount");
