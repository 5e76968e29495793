import { expressionBuilder, type Kysely } from "kysely";
import { orgsInList } from "#server/access/org-access";
import { containsPattern, matches, word } from "#server/db/dialect/text";
import { preparedPage } from "#server/db/paginate";
import { preparedRows } from "#server/db/prepared";
import type { Database } from "#server/db/tables";
import type { Call } from "#server/http/call";

interface Query {
  readonly page: number;
  readonly limit: number;
  readonly severity?: string | undefined;
  readonly status?: string | undefined;
  readonly category?: string | undefined;
  readonly providerId?: string | undefined;
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
  readonly search?: string | undefined;
}

type Asked = {
  orgId: string | undefined;
  deviceId: string | undefined;
  severity: string | undefined;
  status: string | undefined;
  category: string | undefined;
  providerId: string | undefined;
  startDate: string | undefined;
  endDate: string | undefined;
  pattern: string | undefined;
  /** To some sites: threats whose device is not among those the caller sees are left out. */
  confined: boolean;
};

/** The newest first, with the counts of all that the filters leave. */
export async function threatPage(
  call: Pick<Call, "db" | "who"> & { readonly query: Query },
  of: { orgId: string | undefined; deviceId?: string },
) {
  const { search, page, limit, severity, status, category, providerId, startDate, endDate } = call.query;
  const asked: Asked = {
    ...{ severity, status, category, providerId, startDate, endDate },
    orgId: of.orgId,
    deviceId: of.deviceId,
    pattern: search ? containsPattern(search) : undefined,
    confined: call.who.kind === "user" && call.who.allowedSiteIds !== null,
  };
  const [listed, [counts]] = await Promise.all([
    pageOf(call.db, { page, limit }, asked, null),
    countsOf(call.db, asked, null),
  ]);
  const count = (of: unknown) => Number(of ?? 0);
  return {
    ...listed,
    data: listed.data.map(({ displayName, hostname, leftAs, ...threat }) => ({
      ...threat,
      deviceName: displayName ?? hostname ?? (leftAs as string),
    })),
    summary: {
      total: listed.pagination.total,
      active: count(counts?.active),
      quarantined: count(counts?.quarantined),
      critical: count(counts?.critical),
      allowed: count(counts?.allowed),
    },
  };
}

/**
 * A column of a threat's device, null where the caller does not see it. Looked up for each threat: joined, Postgres may
 * read all devices in the order of their ids.
 */
const ofDevice = <C extends "id" | "status" | "hostname" | "displayName">(column: C) =>
  expressionBuilder<Database & { threat: Database["deviceThreats"] }, "threat">()
    .selectFrom("devices")
    .select(`devices.${column}`)
    .whereRef("devices.id", "=", "threat.deviceId")
    .whereRef("devices.orgId", "=", "threat.orgId");

function filtered(db: Kysely<Database>, asked: Asked) {
  let query = db.selectFrom("deviceThreats as threat").where("threat.orgId", "in", orgsInList(asked.orgId));
  if (asked.deviceId !== undefined) query = query.where("threat.deviceId", "=", asked.deviceId);
  else query = query.where((eb) => eb(ofDevice("status"), "is distinct from", word("decommissioned")));
  if (asked.confined) query = query.where((eb) => eb(ofDevice("id"), "is not", null));
  if (asked.severity !== undefined) query = query.where("threat.severity", "=", asked.severity as "low");
  if (asked.status !== undefined) query = query.where("threat.status", "=", asked.status as "active");
  if (asked.category !== undefined) query = query.where("threat.category", "=", asked.category as "pup");
  if (asked.providerId !== undefined) query = query.where("threat.providerId", "=", asked.providerId);
  if (asked.startDate !== undefined) query = query.where("threat.detectedAt", ">=", asked.startDate);
  if (asked.endDate !== undefined) query = query.where("threat.detectedAt", "<=", asked.endDate);
  const { pattern } = asked;
  if (pattern === undefined) return query;
  return query.where((eb) =>
    eb.or([
      matches(eb.ref("threat.name"), pattern),
      matches(eb.ref("threat.filePath"), pattern),
      matches(ofDevice("displayName").$asScalar(), pattern),
      matches(ofDevice("hostname").$asScalar(), pattern),
      matches(eb.ref("threat.hostname"), pattern),
    ]),
  );
}

const pageOf = preparedPage((db, asked: Asked) =>
  filtered(db, asked)
    .select(["threat.id", "threat.orgId", "threat.deviceId", "threat.providerId", "threat.name", "threat.category"])
    .select(["threat.severity", "threat.status", "threat.rawStatus", "threat.filePath", "threat.detectedAt"])
    .select(["threat.removedAt", "threat.hostname as leftAs"])
    .select([ofDevice("hostname").as("hostname"), ofDevice("displayName").as("displayName")])
    .orderBy("threat.detectedAt", "desc")
    .orderBy("threat.id", "desc"),
);

const countsOf = preparedRows((db, asked: Asked) =>
  filtered(db, asked).select((eb) => [
    eb.fn.countAll<number>().filterWhere("threat.status", "=", word("active")).as("active"),
    eb.fn.countAll<number>().filterWhere("threat.status", "=", word("quarantined")).as("quarantined"),
    eb.fn
      .countAll<number>()
      .filterWhere("threat.severity", "=", word("critical"))
      .filterWhere("threat.status", "<>", word("removed"))
      .as("critical"),
    eb.fn.countAll<number>().filterWhere("threat.rawStatus", "=", word("allowed")).as("allowed"),
  ]),
);
