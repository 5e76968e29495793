import { z } from "zod";
import { open } from "../../core/access.ts";
import { get, type Noun, resource } from "../../core/endpoint.ts";

const everywhere = { access: open(), alsoAtRoot: true } as const;

const about: Noun = {
  name: "service-status",
  summary: "Health, metrics and the description of this API",
  audits: [],
};

/**
 * Operational endpoints, at the host root and under /api/v1, without a credential or a rate limit
 * (docs/platform.md, "Operational endpoints").
 */
export const serviceStatus = resource(about, {
  health: get("/health", {
    ...everywhere,
    summary: "Show that the server answers",
    returns: () => z.object({ status: z.literal("ok"), version: z.string(), uptimeSeconds: z.number() }),
  }),
  live: get("/health/live", {
    ...everywhere,
    summary: "Liveness probe",
    returns: () => z.object({ status: z.literal("ok") }),
  }),
  ready: get("/health/ready", {
    ...everywhere,
    summary: "Readiness probe: database, writes, migrations, workers and the audit record",
    description: "503 with the same shape, `not_ready`, `error` for each failing check, and `reasons`.",
    returns: () => {
      const check = z.enum(["ok", "error"]);
      return z.object({
        status: z.enum(["ready", "not_ready"]),
        checks: z.object({ database: check, writes: check, migrations: check, workers: check, audit: check }),
      });
    },
  }),
  metrics: get("/metrics", {
    ...everywhere,
    summary: "Metrics in the text exposition format",
    description: "`Authorization: Bearer` must be the scrape token where one is set; not found in production without.",
    transport: "text",
    errors: ["NOT_FOUND", "UNAUTHENTICATED"],
    returns: () => z.string(),
  }),
  openapi: get("/openapi.json", {
    ...everywhere,
    summary: "The API as an OpenAPI 3.1 document",
    returns: () => z.record(z.string(), z.unknown()),
  }),
  docs: get("/docs", {
    ...everywhere,
    summary: "A page that shows the API",
    transport: "html",
    errors: ["NOT_FOUND"],
    returns: () => z.string(),
  }),
});
