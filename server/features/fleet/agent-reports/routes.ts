import { agentReports } from "#contract/resources/fleet/agent-reports";
import { implement } from "#server/http/implement";
import { reportInventory } from "./inventory.ts";
import { reportMetrics } from "./metrics.ts";
import { reportPatches } from "./patches.ts";
import { reportSecurity } from "./security.ts";
import { reportSoftware } from "./software.ts";

export const routes = implement(agentReports, {
  inventory: reportInventory,
  software: reportSoftware,
  security: reportSecurity,
  patches: reportPatches,
  metrics: reportMetrics,
});
