import type { Expression, ExpressionBuilder, Nullable } from "kysely";
import type { Endpoint } from "#contract/core/endpoint";
import type { securityPosture } from "#contract/resources/security/security-posture";
import { getNamedOrg } from "#server/access/org-access";
import { containsPattern, word } from "#server/db/dialect/text";
import { preparedPage } from "#server/db/paginate";
import type { Database } from "#server/db/tables";
import { type Asked, filteredDevices } from "#server/features/fleet/devices/filters";
import type { Call } from "#server/http/call";
import { deviceView, shownColumns } from "./device-view.ts";

type ListCall = typeof securityPosture.list extends Endpoint<infer T> ? Call<T> : never;

type Filters = Asked & {
  providerId: string | undefined;
  /** Its facts say so, and it is heard of. */
  judged: string | undefined;
  offline: boolean;
  riskLevel: string | undefined;
  /** Devices that are not heard of: whether their silence gives them this level, or takes it from them. */
  silence: boolean | undefined;
};

/** Devices in use, by name (docs/security.md, "Status"). */
export async function listStatus(call: ListCall) {
  const { orgId, providerId, status, riskLevel, os, search, page, limit } = call.query;
  if (orgId !== undefined) await getNamedOrg(call, orgId);
  const asked: Filters = {
    partnerId: orgId === undefined && call.scope.kind === "partner" ? call.scope.partnerId : undefined,
    orgId,
    ...{
      orgIds: undefined,
      siteIds: undefined,
      groupIds: undefined,
      status: undefined,
      role: undefined,
      named: undefined,
    },
    osType: os,
    pattern: search ? containsPattern(search) : undefined,
    ...{ decommissioned: false, nothing: false },
    providerId,
    judged: status === "offline" ? undefined : status,
    offline: status === "offline",
    riskLevel,
    silence: riskLevel === "medium" ? true : riskLevel === "low" ? false : undefined,
  };
  const listed = await pageOf(call.db, { page, limit }, asked, null);
  return { ...listed, data: listed.data.map(deviceView) };
}

const pageOf = preparedPage((db, asked: Filters) => {
  const { providerId, judged, offline, riskLevel, silence } = asked;
  let query = filteredDevices(db, asked)
    .leftJoin("deviceSecurity as security", (join) =>
      join.onRef("security.orgId", "=", "devices.orgId").onRef("security.deviceId", "=", "devices.id"),
    )
    .where("devices.status", "<>", word("pending"));
  if (providerId !== undefined) query = query.where((eb) => eb(reported(eb, "providerId"), "=", providerId));
  if (offline) query = query.where("devices.status", "=", word("offline"));
  if (judged !== undefined)
    query = query.where("devices.status", "<>", word("offline")).where((eb) => eb(reported(eb, "status"), "=", judged));
  if (riskLevel !== undefined)
    query = query.where((eb) => {
      const told = eb(reported(eb, "riskLevel"), "=", riskLevel);
      if (silence === undefined) return told;
      if (!silence) return eb.and([told, eb("devices.status", "<>", word("offline"))]);
      const lower = eb(reported(eb, "riskLevel"), "in", [word(""), word("low")]);
      return eb.or([told, eb.and([eb("devices.status", "=", word("offline")), lower])]);
    });
  return query.select(shownColumns).orderBy("devices.hostnameKey").orderBy("devices.id");
});

type Joined = ExpressionBuilder<Database & { security: Nullable<Database["deviceSecurity"]> }, "security">;

/**
 * Empty where nothing is reported. Compared as it is, a column would make Postgres begin with the reports, and read all
 * devices in the order of their ids beside them.
 */
const reported = (eb: unknown, column: "providerId" | "status" | "riskLevel") => {
  const joined = eb as Joined;
  return joined.fn.coalesce(joined.ref(`security.${column}`), word("")) as Expression<string>;
};
