import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Metrics of this process for `GET /metrics`; no label names a tenant (docs/platform.md, "Metrics"). */
export interface Metrics {
  readonly registry: Registry;
  readonly requests: Counter<"method" | "route" | "status_class">;
  readonly duration: Histogram<"method" | "route">;
  readonly inFlight: Gauge;
  readonly workerLastRun: Gauge<"worker">;
  readonly devices: Gauge<"status">;
  readonly brokenChains: Gauge;
  /** Entries that left the audit outbox without reaching the log, by the last check. */
  readonly missingAuditEntries: Gauge;
  /** Audit events without a tenant, which are dropped (docs/audit.md, "Chain of an entry"). */
  readonly droppedAuditEvents: Counter;
  /** Refused requests whose entries the database does not take (docs/audit.md, "Repeated refusals"). */
  readonly lostRefusals: Gauge;
  /** Events that a consumer has not been told of; those of `numbering` have no place in the order yet. */
  readonly waitingEvents: Gauge;
  /** Anchors and prune records that a place outside does not have yet, by the last run. */
  readonly undeliveredAnchors: Gauge<"target">;
  /** Events that a consumer could not take (docs/platform.md, "Events"). */
  readonly setAsideEvents: Gauge;
}

export function processMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    requests: new Counter({
      name: "http_requests_total",
      help: "Requests answered",
      labelNames: ["method", "route", "status_class"],
      registers,
    }),
    duration: new Histogram({
      name: "http_request_duration_seconds",
      help: "Time to answer",
      labelNames: ["method", "route"],
      registers,
    }),
    inFlight: new Gauge({ name: "http_requests_in_flight", help: "Requests being answered", registers }),
    workerLastRun: new Gauge({
      name: "worker_last_run_timestamp_seconds",
      help: "Last successful run of a worker",
      labelNames: ["worker"],
      registers,
    }),
    devices: new Gauge({ name: "devices_total", help: "Devices by status", labelNames: ["status"], registers }),
    brokenChains: new Gauge({
      name: "audit_chain_broken_orgs",
      help: "Chains whose last verification failed",
      registers,
    }),
    missingAuditEntries: new Gauge({
      name: "audit_outbox_missing_entries",
      help: "Audit entries that left the outbox without reaching the log",
      registers,
    }),
    droppedAuditEvents: new Counter({
      name: "audit_events_without_tenant_total",
      help: "Audit events attributable to no tenant",
      registers,
    }),
    waitingEvents: new Gauge({
      name: "events_waiting",
      help: "Events that a consumer has not been told of",
      labelNames: ["consumer"],
      registers,
    }),
    undeliveredAnchors: new Gauge({
      name: "audit_anchors_undelivered",
      help: "Anchors and prune records that a webhook or bucket does not have yet",
      labelNames: ["target"],
      registers,
    }),
    setAsideEvents: new Gauge({
      name: "events_set_aside",
      help: "Events that a consumer could not take",
      labelNames: ["consumer"],
      registers,
    }),
    lostRefusals: new Gauge({
      name: "audit_refusals_lost",
      help: "Refused requests that are not recorded",
      registers,
    }),
  };
}
