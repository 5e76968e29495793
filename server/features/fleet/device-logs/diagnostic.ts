import type { Endpoint } from "#contract/core/endpoint";
import { type deviceLogs, logLevels } from "#contract/resources/fleet/device-logs";
import { containsPattern, matches } from "#server/db/dialect/text";
import { preparedPage } from "#server/db/paginate";
import { getTarget } from "#server/features/fleet/device-commands/get-target";
import type { Call } from "#server/http/call";

type ListCall = typeof deviceLogs.diagnostic extends Endpoint<infer T> ? Call<T> : never;

/** What was logged while the device was in its organization (docs/device-logs.md, "Reading"). */
export async function listDiagnosticLogs(call: ListCall) {
  const { id: deviceId, orgId } = await getTarget(call, call.db, call.params.id);
  const { page, limit, level, component, since, until, search } = call.query;
  const offset = (page - 1) * limit;
  const levels = levelsIn(level);
  if (levels?.length === 0) return { logs: [], total: 0, limit, offset };
  const pattern = search ? containsPattern(search) : undefined;
  const asked = { orgId, deviceId, component, since, until, pattern };
  const { data, pagination } = await pageOf(call.db, { page, limit }, asked, levels ?? null);
  return { logs: data, total: pagination.total, limit, offset };
}

type Level = (typeof logLevels)[number];

/** Those that are known, in one order; undefined where none is named at all. */
function levelsIn(text: string | undefined): Level[] | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const named = text.split(",").map((name) => name.trim().toLowerCase());
  return logLevels.filter((level) => named.includes(level));
}

type Asked = { orgId: string; deviceId: string } & Pick<ListCall["query"], "component" | "since" | "until"> & {
    pattern: string | undefined;
  };

const pageOf = preparedPage((db, asked: Asked, levels: readonly Level[] | null) => {
  const { orgId, deviceId, component, since, until, pattern } = asked;
  let query = db
    .selectFrom("deviceLogs")
    .select([
      "id",
      "deviceId",
      "orgId",
      "timestamp",
      "level",
      "component",
      "message",
      "fields",
      "agentVersion",
      "createdAt",
    ])
    .where("deviceLogs.orgId", "=", orgId)
    .where("deviceLogs.deviceId", "=", deviceId);
  if (levels !== null) query = query.where("deviceLogs.level", "in", levels);
  if (component !== undefined) query = query.where("deviceLogs.component", "=", component);
  if (since !== undefined) query = query.where("deviceLogs.timestamp", ">=", since);
  if (until !== undefined) query = query.where("deviceLogs.timestamp", "<=", until);
  if (pattern !== undefined) query = query.where((eb) => matches(eb.ref("deviceLogs.message"), pattern));
  return query.orderBy("deviceLogs.timestamp", "desc").orderBy("deviceLogs.id", "desc");
});
