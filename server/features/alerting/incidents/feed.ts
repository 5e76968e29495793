import type { Endpoint } from "#contract/core/endpoint";
import type { incidents } from "#contract/resources/alerting/incidents";
import { getNamedOrg } from "#server/access/org-access";
import { preparedPage } from "#server/db/paginate";
import { type Call, user } from "#server/http/call";
import { after, DAY } from "#server/platform/clock";

type FeedCall = typeof incidents.feed extends Endpoint<infer T> ? Call<T> : never;

const SHOWN_CLOSED_MS = 30 * DAY;

/** What the caller may know of, the gravest first and of these the newest (docs/alerting.md, "Incidents"). */
export async function listFeed(call: FeedCall) {
  const { orgId, kind, source, page, limit } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  // Providers' findings have no tables, since no provider is connected.
  const isTracked = (kind ?? "tracked") === "tracked" && (source ?? "native") === "native";
  if (!isTracked) return { data: [], pagination: { page, limit, total: 0 } };
  const who = user(call);
  const form = { confined: who.allowedSiteIds !== null, whole: who.scope !== "partner" || who.orgAccess === "all" };
  const closedAfter = after(call.clock.now(), -SHOWN_CLOSED_MS);
  const found = await pageOf(call.db, { page, limit }, { orgId, closedAfter }, form);
  return { ...found, data: found.data.map(feedRow) };
}

interface Form {
  /** Only what is about devices of the caller's sites. */
  readonly confined: boolean;
  /** Also what is about the whole partner. */
  readonly whole: boolean;
}

const pageOf = preparedPage(
  (db, { orgId, closedAfter }: { orgId: string | undefined; closedAfter: string }, form: Form) => {
    let query = db
      .selectFrom("incidents")
      .leftJoin("organizations", "organizations.id", "incidents.orgId")
      .select(["incidents.id", "incidents.title", "incidents.severity", "incidents.status", "incidents.deviceId"])
      .select(["incidents.detectedAt", "incidents.orgId", "organizations.name as orgName"])
      .where((eb) => eb.or([eb("incidents.closedAt", "is", null), eb("incidents.closedAt", ">", closedAfter)]));
    if (orgId !== undefined) query = query.where("incidents.orgId", "=", orgId);
    if (!form.whole) query = query.where("incidents.orgId", "is not", null);
    if (form.confined)
      query = query.where("incidents.deviceId", "in", (eb) => eb.selectFrom("devices").select("devices.id"));
    return query.orderBy("incidents.severity").orderBy("incidents.detectedAt", "desc").orderBy("incidents.id");
  },
);

type Row = Awaited<ReturnType<typeof pageOf>>["data"][number];

const feedRow = ({ id, ...row }: Row) => ({
  ...{ kind: "tracked" as const, source: "native" as const, sourceId: id, trackedIncidentId: id },
  ...row,
  ...{ edrStatus: null, linkOut: null },
});
