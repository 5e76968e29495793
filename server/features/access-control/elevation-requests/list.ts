import type { Kysely } from "kysely";
import type { Endpoint } from "#contract/core/endpoint";
import type { elevationRequests } from "#contract/resources/access-control/elevation-requests";
import { getNamedOrg, orgsInList } from "#server/access/org-access";
import { word } from "#server/db/dialect/text";
import { preparedPage } from "#server/db/paginate";
import { preparedRows } from "#server/db/prepared";
import type { Database } from "#server/db/tables";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { isConfined, ofDevice, shown, withWait } from "./queries.ts";

type ListCall = typeof elevationRequests.list extends Endpoint<infer T> ? Call<T> : never;
type ActiveCall = typeof elevationRequests.active extends Endpoint<infer T> ? Call<T> : never;

const ACTIVE_MAX = 500;

/** The newest first; decided and ended ones stay (docs/elevation-requests.md, "A request"). */
export async function listElevations(call: ListCall) {
  const { status, flowType, orgId, deviceId, siteId, from, to } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  if (siteId !== undefined) await refuseUnseenSite(call, siteId);
  const asked = { status, flowType, orgId, deviceId, siteId, from, to, confined: isConfined(call) };
  const { data, pagination } = await pageOf(call.db, call.query, asked, null);
  return { success: true as const, requests: data.map(withWait(call)), pagination };
}

/** A named site that the caller does not reach is 403, whether it exists or not. */
async function refuseUnseenSite(call: ListCall, siteId: string): Promise<void> {
  const site = await call.db.selectFrom("sites").select("id").where("id", "=", siteId).executeTakeFirst();
  if (!site) throw problem("SITE_ACCESS_DENIED");
}

type Asked = Partial<Record<"status" | "flowType" | "orgId" | "deviceId" | "siteId" | "from" | "to", string>> & {
  confined: boolean;
};

const pageOf = preparedPage((db, asked: Asked) =>
  filtered(db, asked).orderBy("elevationRequests.requestedAt", "desc").orderBy("elevationRequests.id", "desc"),
);

function filtered(db: Kysely<Database>, asked: Asked) {
  let query = shown(db).where("elevationRequests.orgId", "in", orgsInList(asked.orgId));
  if (asked.confined) query = query.where((eb) => eb(ofDevice("id"), "is not", null));
  if (asked.status !== undefined) query = query.where("elevationRequests.status", "=", asked.status as "pending");
  if (asked.flowType !== undefined)
    query = query.where("elevationRequests.flowType", "=", asked.flowType as "uac_intercept");
  if (asked.deviceId !== undefined) query = query.where("elevationRequests.deviceId", "=", asked.deviceId);
  if (asked.siteId !== undefined) query = query.where((eb) => eb(ofDevice("siteId"), "=", asked.siteId as string));
  if (asked.from !== undefined) query = query.where("elevationRequests.requestedAt", ">=", asked.from);
  if (asked.to !== undefined) query = query.where("elevationRequests.requestedAt", "<=", asked.to);
  return query;
}

/** What is open now, the last approved first. */
export async function listActive(call: ActiveCall) {
  const asked = { now: call.clock.now(), confined: isConfined(call) };
  return { success: true as const, active: (await activeOf(call.db, asked, null)).map(withWait(call)) };
}

const activeOf = preparedRows((db, { now, confined }: { now: string; confined: boolean }) => {
  const query = shown(db)
    .where("elevationRequests.orgId", "in", orgsInList(undefined))
    .where("elevationRequests.status", "in", [word("approved"), word("auto_approved"), word("actuating")])
    .where("elevationRequests.expiresAt", ">", now)
    .orderBy("elevationRequests.approvedAt", "desc")
    .orderBy("elevationRequests.id", "desc")
    .limit((eb) => eb.lit(ACTIVE_MAX));
  return confined ? query.where((eb) => eb(ofDevice("id"), "is not", null)) : query;
});
