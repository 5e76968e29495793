import { serviceStatus } from "#contract/resources/platform/service-status";
import { implement } from "#server/http/implement";
import { productVersion } from "#server/platform/version";
import { showDocs } from "./docs.ts";
import { scrapeMetrics } from "./metrics.ts";
import { showOpenApi } from "./openapi.ts";
import { ready } from "./ready.ts";

export const routes = implement(serviceStatus, {
  health: async () => ({ status: "ok", version: productVersion(), uptimeSeconds: Math.floor(process.uptime()) }),
  live: async () => ({ status: "ok" }),
  ready,
  metrics: scrapeMetrics,
  openapi: showOpenApi,
  docs: showDocs,
});
