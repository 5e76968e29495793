import type { ExpressionBuilder } from "kysely";
import type { Endpoint } from "#contract/core/endpoint";
import type { sites } from "#contract/resources/tenancy/sites";
import { listedOrgs } from "#server/access/org-access";
import { withOrgNames } from "#server/access/place-names";
import { paginate } from "#server/db/paginate";
import type { Database } from "#server/db/tables";
import type { Call } from "#server/http/call";
import { siteColumns } from "./queries.ts";

type ListCall = typeof sites.list extends Endpoint<infer T> ? Call<T> : never;

/** Oldest first, with the number of devices that are not decommissioned (docs/tenancy.md, "Sites"). */
export async function listSites(call: ListCall) {
  const orgs = await listedOrgs(call, call.query.orgId ?? call.query.organizationId);
  const query = call.db
    .selectFrom("sites")
    .select(siteColumns)
    .select(deviceCount)
    .where("sites.orgId", "in", orgs)
    .orderBy("sites.createdAt")
    .orderBy("sites.id");
  const page = await paginate(query, call.query);
  const counted = page.data.map((row) => ({ ...row, deviceCount: Number(row.deviceCount ?? 0) }));
  return { ...page, data: await withOrgNames(call.db, counted) };
}

const deviceCount = (eb: ExpressionBuilder<Database, "sites">) =>
  eb
    .selectFrom("devices")
    .select((inner) => inner.fn.countAll<number>().as("n"))
    .whereRef("devices.orgId", "=", "sites.orgId")
    .whereRef("devices.siteId", "=", "sites.id")
    .where("devices.status", "<>", "decommissioned")
    .as("deviceCount");
