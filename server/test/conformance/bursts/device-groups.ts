import { setTimeout as pause } from "node:timers/promises";
import { fleetQueries } from "#server/access/fleet-queries";
import { caseOf } from "../cases.ts";
import { ask, type Swept } from "../sweep.ts";
import { type Burst, useUp } from "./burst.ts";

const tagged = (number: number) => ({
  operator: "AND",
  conditions: [{ field: "tags", operator: "hasAny", value: [`burst-${number}`] }],
});

/** All that looks at every device for a group: a preview, a new group, other conditions. */
async function looks({ server }: Swept, { tenant, token }: Awaited<ReturnType<typeof callerOf>>) {
  const { dynamicGroupId } = tenant as unknown as { dynamicGroupId: string };
  const params = { id: dynamicGroupId };
  const made = (number: number) => ({ orgId: tenant.orgId, name: `Burst ${number}`, type: "dynamic" });
  const of = (number: number) => {
    const filterConditions = tagged(number);
    if (number % 3 === 0)
      return { item: caseOf("deviceGroups.preview"), options: { params, body: { filterConditions } } };
    if (number % 3 === 1)
      return { item: caseOf("deviceGroups.update"), options: { params, body: { filterConditions } } };
    return { item: caseOf("deviceGroups.create"), options: { body: { ...made(number), filterConditions } } };
  };
  return (number: number) => {
    const { item, options } = of(number);
    return { send: () => ask(server, item, { tenant, token, ...options }) };
  };
}

async function callerOf(swept: Swept) {
  const tenant = await swept.freshTenant();
  return { tenant, ...(await swept.caller("partner", tenant)) };
}

export const deviceGroupBursts: readonly Burst[] = [
  {
    limit: "fleet-query",
    noun: "device-groups",
    // Fewer than may be under way at once.
    left: 1,
    async ready(swept) {
      const caller = await callerOf(swept);
      await useUp(swept, fleetQueries, caller.userId, 1);
      return looks(swept, caller);
    },
  },
  {
    limit: "fleet-query-open",
    noun: "device-groups",
    // In each process: all are asked of one.
    left: 2,
    async ready(swept) {
      const caller = await callerOf(swept);
      holdLooks(swept);
      return looks(swept, caller);
    },
  },
];

/** Those that were let in stay until all others have come. */
export function holdLooks({ server }: Swept): void {
  const { limiter } = server.services;
  const take = limiter.take.bind(limiter);
  limiter.take = async (...asked) => {
    if (asked[0] === fleetQueries) await pause(2_000);
    return take(...asked);
  };
}
