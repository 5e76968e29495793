import { answers, type Readings, readsAndWrites, records, says, tells } from "./reading.ts";

export const management: Readings = {
  sections: [
    says(
      "GET plugins",
      { permissions: ["organizations:read"] },
      "## 12. Plugins (U; reads `organizations:read`; writes `organizations:write` +MFA",
    ),
    says(
      "ALL remote-sessions; ALL tunnels",
      { permissions: ["remote:access"], mfa: true },
      "(prefix /remote; all: U · `remote:access` +MFA)",
    ),
    says(
      "GET /remote/sessions/:id/ws; ALL /tunnel-http/:tunnelId/*",
      { kinds: ["public"], permissions: [], mfa: false },
      "Without bearer, but every rule of the user behind ticket, code or cookie holds",
      "the ticket or cookie decides, so the pipeline sees no credential",
    ),
    says(
      "ALL processes; ALL services; ALL event-logs; ALL scheduled-tasks; ALL registry-entries; ALL files",
      { permissions: ["devices:execute"], mfa: true },
      "registry and file reads and every other method `devices:execute`",
    ),
    answers(
      "ALL processes; ALL services; ALL event-logs; ALL scheduled-tasks; ALL registry-entries; ALL files",
      "+REMOTE_ACCESS_POLICY_DENIED +DEVICE_OFFLINE +AGENT_ERROR +AGENT_BAD_RESPONSE +AGENT_TIMEOUT",
      "registry and file reads and every other method `devices:execute`",
    ),
    answers(
      "ALL event-logs; ALL scheduled-tasks; ALL registry-entries",
      "+UNSUPPORTED_OS",
      "registry, event logs and tasks are Windows-only: 400 `UNSUPPORTED_OS`",
    ),
    says(
      "GET processes; GET services; GET event-logs; GET scheduled-tasks",
      { permissions: ["devices:read"] },
      "GET of processes, services, event logs and tasks `devices:read`",
    ),
    ...readsAndWrites(
      "devices",
      "maintenance-windows maintenance-occurrences",
      "(reads U · `devices:read`; writes `devices:write` +MFA; OWNER)",
    ),
    ...readsAndWrites(
      "devices",
      "configuration-policies",
      "(prefix /policies; reads U · `devices:read`; writes `devices:write` +MFA; OWNER)",
    ),
    ...readsAndWrites(
      "devices",
      "deployments",
      "(prefix /deployments; reads `devices:read`; create/update/delete `devices:write` +MFA",
    ),
    says(
      "POST /deployments/:id/initialize; POST /deployments/:id/start; POST /deployments/:id/pause; POST /deployments/:id/resume; POST /deployments/:id/cancel; POST /deployments/:id/devices/:deviceId/retry",
      { permissions: ["devices:execute"] },
      "lifecycle `devices:execute` +MFA, plus `scripts:execute` for type script",
      "a retry sends the work again, so it belongs to the lifecycle",
    ),
    says("GET reports; GET report-runs", { permissions: ["reports:read"] }, "## 8. Reports (reads `reports:read`"),
    says("WRITE reports", { permissions: ["reports:write"] }, "write/generate saved `reports:write`"),
    says("DELETE /reports/:id", { permissions: ["reports:delete"] }, "delete `reports:delete`)"),
    says("POST /reports/generate", { permissions: ["reports:export"] }, "ad hoc, data, file output `reports:export`"),
    says(
      "GET /reports/data/device-inventory; GET /reports/data/software-inventory; GET /reports/data/compliance; GET /reports/data/metrics",
      { permissions: ["reports:export", "devices:read"] },
      "need `alerts:read` for alert_summary and [92], `devices:read` for the rest",
    ),
    says(
      "GET /reports/data/alerts-summary",
      { permissions: ["reports:export", "alerts:read"] },
      "need `alerts:read` for alert_summary and [92], `devices:read` for the rest",
    ),
    says("ALL analytics", { permissions: ["devices:read"] }, "## 9. Analytics (`devices:read`;"),
    says(
      "GET dashboards; GET slas",
      { permissions: ["reports:read"] },
      "dashboards, widgets and SLAs `reports:read` / `reports:write`",
    ),
    says(
      "WRITE dashboards; WRITE slas",
      { permissions: ["reports:write"] },
      "dashboards, widgets and SLAs `reports:read` / `reports:write`",
    ),
    says(
      "DELETE /analytics/sla/:id",
      { permissions: ["reports:delete"] },
      "`DELETE /analytics/sla/:id` (reports:delete)",
    ),
    says("ALL notifications", { permissions: [], audit: [] }, "## 10. Notifications (U; always the caller's own rows)"),
    ...readsAndWrites(
      "organizations",
      "webhooks webhook-deliveries",
      "## 11. Webhooks (reads U · `organizations:read`; writes `organizations:write` +MFA)",
    ),
    ...readsAndWrites(
      "organizations",
      "plugin-installations",
      "## 12. Plugins (U; reads `organizations:read`; writes `organizations:write` +MFA",
    ),
    says(
      "ALL mcp-tools",
      { kinds: ["apiKey"], permissions: [], audit: ["mcp.tool.<name>"] },
      "with the same behaviour — K only",
      "the scope a key needs hangs on the tool",
    ),
    says(
      "ALL dev-events",
      { kinds: ["user", "apiKey"], permissions: ["devices:write"] },
      "`POST /dev/push` — K (no scope) or U · `devices:write`",
    ),
    says("ALL service-status", { kinds: ["public"] }, "at the host root and under /api/v1; no auth, no rate limit"),
  ],
  corrections: [
    says(
      "GET /remote/sessions/:id; POST /remote/sessions/:id/offer; POST /remote/sessions/:id/ice; POST /remote/sessions/:id/ws-ticket; POST /remote/sessions/:id/end; GET /remote/ice-servers",
      { kinds: ["user", "viewer"] },
      "valid only for that session's GET/offer/ice/ice-servers/ws-ticket, and for its end",
    ),
    records(
      "POST /analytics/dashboards/:id/widgets",
      "analytics.widget.create",
      "analytics.{dashboard.CUD,widget.CUD,sla.CUD}",
    ),
    records("PATCH /analytics/widgets/:id", "analytics.widget.update", "analytics.{dashboard.CUD,widget.CUD,sla.CUD}"),
    records("DELETE /analytics/widgets/:id", "analytics.widget.delete", "analytics.{dashboard.CUD,widget.CUD,sla.CUD}"),
    records("POST /webhooks/:id/retry/:deliveryId", "webhook.retry", "webhook.{CUD,test,retry}"),
    records(
      "POST /remote/sessions/:id/ws-ticket; POST /remote/sessions/:id/desktop-connect-code; POST /remote/connect/exchange",
      "",
      "(unless named not: own notifications, previews, one-time tickets, agent reports)",
      "a ticket, code or challenge that serves once",
    ),
    records(
      "POST /remote/sessions/:id/ice; ALL /tunnel-http/:tunnelId/*",
      "",
      "### 8.4 Audit actions (complete)",
      "the complete list holds no action for it: a step of something that is recorded when it succeeds",
    ),
    answers("POST /remote/sessions/:id/offer", "+REMOTE_ACCESS_POLICY_DENIED", "Re-checks policy (403)"),
    answers("POST /tunnels", "+REMOTE_ACCESS_POLICY_DENIED", "Policy `enableProxy` (403)"),
    answers(
      "POST /webhooks",
      "+UNSAFE_URL +UNKNOWN_EVENT +LIMIT_REACHED",
      "no `responseBody` is kept. 400 `UNSAFE_URL`",
    ),
    answers("PATCH /webhooks/:id", "+UNSAFE_URL +UNKNOWN_EVENT", "no `responseBody` is kept. 400 `UNSAFE_URL`"),
    answers(
      "POST /policies; PATCH /policies/:id",
      "+TARGET_NOT_IN_SCOPE",
      "targetId filled in. 400 `TARGET_NOT_IN_SCOPE`",
    ),
    answers(
      "PUT /policies/:id",
      "+TARGET_NOT_IN_SCOPE +CONCURRENT_MODIFICATION",
      "`version` optional here and in PUT: differs from the stored one",
    ),
    tells("GET /analytics/sla/:id/compliance", "", "A closed breach emits `sla.breached`"),
  ],
};
