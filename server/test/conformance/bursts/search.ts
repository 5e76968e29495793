import { fleetQueries } from "#server/access/fleet-queries";
import { caseOf } from "../cases.ts";
import { ask } from "../sweep.ts";
import { always, type Burst, useUp } from "./burst.ts";
import { holdLooks } from "./device-groups.ts";

export const searchBursts: readonly Burst[] = [
  {
    limit: "fleet-query",
    noun: "search",
    // Fewer than may be under way at once.
    left: 1,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token, userId } = await swept.caller("partner", tenant);
      await useUp(swept, fleetQueries, userId, 1);
      return always("search.find", { tenant, token });
    },
  },
  {
    limit: "fleet-query-open",
    noun: "search",
    // In each process: all are asked of one.
    left: 2,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token } = await swept.caller("partner", tenant);
      holdLooks(swept);
      return () => ({ send: () => ask(swept.server, caseOf("search.find"), { tenant, token }) });
    },
  },
];
