import { answers, type Readings, records, says, tells } from "./reading.ts";

export const fleet: Readings = {
  sections: [
    says(
      "GET saved-filters; POST /filters/preview; POST /filters/:id/preview",
      { permissions: ["devices:read"] },
      "### D2 Saved filters (devices:read / devices:write, no MFA)",
      "a preview shows devices and changes nothing",
    ),
    says(
      "POST /filters; PATCH /filters/:id; DELETE /filters/:id",
      { permissions: ["devices:write"] },
      "### D2 Saved filters (devices:read / devices:write, no MFA)",
    ),
    says("ALL search", { permissions: [] }, "`GET /search?q&limit` — any authenticated user"),
    says(
      "GET custom-fields; GET device-commands; GET tags",
      { permissions: ["devices:read"] },
      "Where an endpoint names no permission: `devices:read` to read, `devices:write` to configure",
    ),
    says(
      "WRITE custom-fields",
      { permissions: ["devices:write"] },
      "Where an endpoint names no permission: `devices:read` to read, `devices:write` to configure",
    ),
    says("WRITE device-groups", { permissions: ["devices:write"] }, "Reads devices:read, writes devices:write, no MFA"),
    // Behind the writes, of which a POST is one: what is said later counts.
    says(
      "GET device-groups; POST /groups/:id/preview",
      { permissions: ["devices:read"] },
      "Reads devices:read, writes devices:write, no MFA",
      "a preview shows devices and changes nothing",
    ),
    says(
      "ALL agents",
      { kinds: ["agent"] },
      "header `Authorization: Bearer`. Two credentials per device: main and watchdog",
    ),
    says(
      "POST /agents/:id/heartbeat; GET /agents/:id/commands; POST /agents/:id/commands/:commandId/result",
      { watchdog: true },
      "(watchdog may call only heartbeat, commands, result)",
    ),
    answers(
      "ALL agents",
      "+INVALID_AGENT_CREDENTIALS +DEVICE_DECOMMISSIONED +DEVICE_QUARANTINED +TENANT_OFFBOARDING",
      "403 `DEVICE_DECOMMISSIONED`, `DEVICE_QUARANTINED`, `TENANT_OFFBOARDING`",
    ),
  ],
  corrections: [
    says(
      "GET /devices/:id/custom-fields",
      { kinds: ["user", "apiKey"], permissions: ["devices:read"], keyScopes: ["devices:read"] },
      "— bearer devices:read, or API key scope `devices:read`",
    ),
    says(
      "PATCH /devices/:id/custom-fields",
      { kinds: ["user", "apiKey"], permissions: ["devices:write"], keyScopes: ["devices:write"], mfa: false },
      "— bearer devices:write or key `devices:write`",
    ),
    records(
      "POST /filters/preview",
      "filter.preview",
      "Audit `filter.preview` / `filter.saved.preview {totalCount, orgCount}`",
    ),
    records(
      "POST /filters/:id/preview",
      "filter.saved.preview",
      "Audit `filter.preview` / `filter.saved.preview {totalCount, orgCount}`",
    ),
    records(
      "POST /devices/:id/move-org",
      "device.move_org.source device.move_org.target",
      "Audit `device.move_org.source` and `.target`",
    ),
    records(
      "POST /devices/bulk/commands",
      "device.command.queue",
      "device.{CUD,custom_field.update,move_org.source,move_org.target,command.queue}",
    ),
    records("POST /groups/:id/devices", "device_group.device.add", "Audit `device_group.device.add|remove`"),
    records(
      "DELETE /groups/:id/devices/:deviceId",
      "device_group.device.remove",
      "Audit `device_group.device.add|remove`",
    ),
    records("POST /groups/:id/devices/:deviceId/pin", "device_group.device.pin", "device.pin,device.unpin}"),
    records("DELETE /groups/:id/devices/:deviceId/pin", "device_group.device.unpin", "device.pin,device.unpin}"),
    records(
      "POST /groups/:id/preview",
      "",
      "(unless named not: own notifications, previews, one-time tickets, agent reports)",
      "a preview or a check that writes nothing",
    ),
    records(
      "POST /agents/:id/heartbeat; POST /agents/:id/metrics; PUT /agents/:id/inventory; PUT /agents/:id/software; PUT /agents/:id/patches; PUT /agents/:id/security",
      "",
      "(unless named not: own notifications, previews, one-time tickets, agent reports)",
      "an agent's report; a heartbeat is recorded only where it changes a state",
    ),
    answers(
      "POST /filters",
      "+LIMIT_REACHED +FILTER_INVALID_STRUCTURE +FILTER_UNKNOWN_FIELD +FILTER_OPERATOR_NOT_ALLOWED +FILTER_VALUE_REQUIRED +FILTER_TYPE_MISMATCH +FILTER_INVALID_REGEX +FILTER_TOO_DEEP +FILTER_TOO_LARGE",
      "≤500 filters per organization, ≤64 KB each (422 `LIMIT_REACHED`)",
    ),
    answers("PATCH /filters/:id", "-LIMIT_REACHED", "≤500 filters per organization", "a change adds no filter"),
    answers(
      "PATCH /filters/:id",
      "+FILTER_INVALID_STRUCTURE +FILTER_UNKNOWN_FIELD +FILTER_OPERATOR_NOT_ALLOWED +FILTER_VALUE_REQUIRED +FILTER_TYPE_MISMATCH +FILTER_INVALID_REGEX +FILTER_TOO_DEEP +FILTER_TOO_LARGE",
      "(400, on save and preview)",
    ),
    answers(
      "POST /filters/preview",
      "+FILTER_TIMEOUT +FILTER_INVALID_STRUCTURE +FILTER_UNKNOWN_FIELD +FILTER_OPERATOR_NOT_ALLOWED +FILTER_VALUE_REQUIRED +FILTER_TYPE_MISMATCH +FILTER_INVALID_REGEX +FILTER_TOO_DEEP +FILTER_TOO_LARGE",
      "(400, on save and preview)",
    ),
    answers(
      "POST /filters/:id/preview",
      "+FILTER_TIMEOUT",
      "Evaluation capped at 5 s, by the database → 422 `FILTER_TIMEOUT`",
    ),
    answers(
      "POST /custom-fields",
      "+DUPLICATE +LIMIT_REACHED",
      "Key unique across an organization and its partner (409 `DUPLICATE`)",
    ),
    answers("PATCH /custom-fields/:id", "+FIELD_IMMUTABLE", "`fieldKey` and `type` immutable (400 `FIELD_IMMUTABLE`)"),
    answers(
      "DELETE /custom-fields/:id",
      "-LIMIT_REACHED",
      "≤200 definitions per owner (422 `LIMIT_REACHED`)",
      "deleting adds none",
    ),
    answers(
      "POST /devices/provision",
      "-ENROLLMENT_KEY_EXHAUSTED",
      "enrolls nothing once the row is not `pending` (401 `ENROLLMENT_KEY_EXHAUSTED`)",
      "the agent gets that answer",
    ),
    answers("POST /devices/provision", "-NOT_FOUND", "cannot be rotated (404)", "rotating it gets that answer"),
    answers(
      "DELETE /devices/:id",
      "-DEVICE_DECOMMISSIONED",
      "the tokens serve 30 days for the answer 403 `DEVICE_DECOMMISSIONED` alone",
      "the agent gets that answer",
    ),
    answers(
      "POST /groups",
      "+FILTER_REQUIRED +FILTER_NOT_ALLOWED +INVALID_PARENT +NAME_TAKEN +FILTER_TIMEOUT +LIMIT_REACHED",
      "Dynamic requires `filterConditions` (400 `FILTER_REQUIRED`)",
    ),
    answers(
      "PATCH /groups/:id",
      "+INVALID_PARENT +NAME_TAKEN +FILTER_TIMEOUT",
      "on filter/site change (422 `FILTER_TIMEOUT`: nothing changed)",
    ),
    answers(
      "DELETE /groups/:id",
      "-GROUP_DELETED",
      "(contract lines do not hold it: `GROUP_DELETED`)",
      "billing gets that answer later",
    ),
    answers(
      "POST /agents/enroll",
      "+TENANT_OFFBOARDING",
      "Everything else, enrollment and the WS: 403 `TENANT_OFFBOARDING`",
    ),
    answers(
      "POST /agents/enroll",
      "-INVALID_AGENT_CREDENTIALS -DEVICE_DECOMMISSIONED",
      "`POST /agents/enroll` — public ·",
      "no token is needed, so none is refused",
    ),
    answers("POST /agents/:id/heartbeat", "-TENANT_OFFBOARDING", "Allowed: heartbeat (records lastSeenAt/status only"),
    answers(
      "GET /agents/:id/commands; POST /agents/:id/commands/:commandId/result",
      "-TENANT_OFFBOARDING",
      "`GET commands` (only `self_uninstall`), result of a `self_uninstall`",
      "answered in the narrowed mode too",
    ),
    tells("POST /agents/:id/heartbeat", "", "(from, to; event `device.updated`)"),
  ],
};
