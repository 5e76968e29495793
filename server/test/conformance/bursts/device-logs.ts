import type { Limit } from "#server/access/rate-limit";
import {
  eventsOfDevice,
  eventsOfOrganization,
  logEntries,
  logKilobytes,
  refusalTold,
} from "#server/features/fleet/device-logs/limits";
import { defaults } from "#server/features/fleet/device-logs/settings";
import { auditOf } from "../../audit-of.ts";
import { caseOf } from "../cases.ts";
import type { CallOptions } from "../sweep.ts";
import { type Attempt, type Burst, useUpWithin } from "./burst.ts";

type SeededTenant = CallOptions["tenant"];

/** One entry, and each time another one. */
const sending =
  (verb: "submit" | "submitEvents", tenant: SeededTenant, message = "x"): Attempt =>
  (number) => {
    const entry = { timestamp: new Date().toISOString(), level: "info", eventId: `burst/${number}`, message };
    const body = verb === "submit" ? { logs: [entry] } : { events: [entry] };
    return { item: caseOf(`deviceLogs.${verb}`), options: { tenant, token: tenant.agentToken, body } };
  };

const burst = (limit: Limit, of: "orgId" | "deviceId", attempt: (tenant: SeededTenant) => Attempt): Burst => ({
  limit: limit.name,
  noun: "device-logs",
  // Fewer than may be under way at once.
  left: 3,
  async ready(swept) {
    const tenant = await swept.freshTenant();
    await useUpWithin(swept, limit, tenant[of], 3);
    return attempt(tenant);
  },
});

export const deviceLogBursts: readonly Burst[] = [
  burst(logEntries, "deviceId", (tenant) => sending("submit", tenant)),
  burst(logKilobytes, "deviceId", (tenant) => sending("submit", tenant, "a ".repeat(500))),
  burst(eventsOfOrganization(defaults), "orgId", (tenant) => sending("submitEvents", tenant)),
  burst(eventsOfDevice(defaults), "deviceId", (tenant) => sending("submitEvents", tenant)),
  tellingOnce(),
];

/** Each is refused; the entries show how often it was told. */
function tellingOnce(): Burst {
  let deviceId = "";
  return {
    limit: refusalTold.name,
    noun: "device-logs",
    left: 1,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      ({ deviceId } = tenant);
      await useUpWithin(swept, eventsOfDevice(defaults), tenant.deviceId, 0);
      return sending("submitEvents", tenant);
    },
    async admitted(swept) {
      const told = await auditOf(swept.server, (entry) => entry.details["reason"] === "rate_limited");
      return told.filter(({ resourceId }) => resourceId === deviceId).length;
    },
  };
}
