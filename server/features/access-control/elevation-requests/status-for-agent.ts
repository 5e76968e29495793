import type { Endpoint } from "#contract/core/endpoint";
import type { elevationRequests } from "#contract/resources/access-control/elevation-requests";
import { ownDevice } from "#server/features/fleet/agents/own-device";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";

type StatusCall = typeof elevationRequests.status extends Endpoint<infer T> ? Call<T> : never;

/** What the agent asks before it acts: of its own device alone (docs/elevation-requests.md, "What an agent does"). */
export async function readStatus(call: StatusCall) {
  const who = ownDevice(call);
  const row = await call.db
    .selectFrom("elevationRequests")
    .select(["id", "flowType", "status", "subjectUsername", "targetExecutablePath", "targetExecutableHash"])
    .select(["commandLine", "expiresAt"])
    .where("id", "=", call.params.requestId)
    .where("orgId", "=", who.orgId)
    .where("deviceId", "=", who.deviceId)
    .executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  return { ...row, serverTime: call.clock.now() };
}
