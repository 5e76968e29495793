import { aboveOrganization, answers, type Readings, readsAndWrites, records, says, tells } from "./reading.ts";

export const operations: Readings = {
  sections: [
    says(
      "GET patch-compliance; GET security-posture",
      { permissions: ["devices:read"] },
      "GET needs `devices:read` and the other methods `devices:write!`",
    ),
    says("GET automation-runs", { permissions: ["automations:read"] }, "`automations:read`, `automations:write!`"),
    ...readsAndWrites(
      "devices",
      "patch-approvals patch-jobs patches patch-policies threats security-scans security-recommendations security-policies vulnerabilities software-catalog-items software-deployments software-inventory monitor-rules monitors discovery-profiles discovery-jobs discovery-assets snmp-templates snmp-metrics snmp-thresholds snmp-devices",
      "GET needs `devices:read` and the other methods `devices:write!`",
    ),
    ...readsAndWrites(
      "alerts",
      "alerts alert-rules alert-channels alert-policies alert-templates alert-correlations",
      "`alerts:read`, `alerts:write!`",
    ),
    ...readsAndWrites(
      "scripts",
      "script-executions scripts script-categories script-tags script-versions script-templates",
      "`scripts:read`, `scripts:write!`",
    ),
    ...readsAndWrites("automations", "automations", "`automations:read`, `automations:write!`"),
    says(
      "POST /alerts/:id/acknowledge; POST /alerts/:id/resolve; POST /alerts/:id/suppress; POST /alerts/:id/dismiss; POST /alerts/bulk",
      { permissions: ["alerts:acknowledge"], mfa: false },
      "The five state-changing endpoints below need `alerts:acknowledge`, no MFA",
    ),
    says(
      "ALL third-party-apps",
      { scopes: ["system"], permissions: [] },
      "### 6.5 Third-party catalog (system scope only; else 403)",
      "system scope takes the place of a permission",
    ),
  ],
  corrections: [
    says(
      "POST /automations/:id/trigger",
      { kinds: ["user", "public"], permissions: ["automations:write"], mfa: true },
      "— two callers. User: P automations:write! ·",
      "the signed call carries no token; the handler checks its signature",
    ),
    says(
      "GET /patches/approvals",
      { scopes: aboveOrganization },
      "P devices:read, partner or system scope (org → 403)",
    ),
    says(
      "GET /discovery/topology",
      { permissions: ["topology:read|devices:read"] },
      "P topology:read (devices:read also accepted, chosen)",
    ),
    says(
      "POST /vulnerabilities/:id/reopen",
      { permissions: ["devices:write|vulnerabilities:accept_risk"] },
      "P devices:write for a mitigated, vulnerabilities:accept_risk for an accepted one",
    ),
    says(
      "POST /script-library/scripts/:id/versions; POST /script-library/scripts/:id/rollback/:versionId",
      { permissions: ["scripts:write", "scripts:execute"] },
      "and needs scripts:execute as well, as new version and rollback do",
    ),
    says(
      "WRITE patch-policies",
      { permissions: ["devices:write", "devices:execute"] },
      "All writes here need `devices:execute` besides devices:write",
    ),
    says(
      "POST /software/catalog/:id/versions",
      { permissions: ["devices:write", "devices:execute", "scripts:write"] },
      "`POST …/versions` needs `devices:execute` and `scripts:write` besides devices:write",
    ),
    records(
      "POST /alerts/bulk",
      "alert.bulk_acknowledge alert.bulk_resolve alert.bulk_suppress alert.bulk_dismiss",
      "A alert.bulk_acknowledge, alert.bulk_resolve, alert.bulk_suppress or alert.bulk_dismiss, one per org",
    ),
    records("POST /alert-templates/correlations/analyze", "alert_correlation.analyze", "alert_correlation.analyze"),
    records("POST /patches/bulk-approve", "patch.bulk_approve", "patch.{approve,decline,defer,bulk_approve}"),
    records(
      "POST /vulnerabilities/remediate",
      "vulnerability.remediate",
      "vulnerability.{remediate,accept_risk,mitigate",
    ),
    records(
      "POST /vulnerabilities/bulk/accept-risk",
      "vulnerability.accept_risk",
      "vulnerability.{remediate,accept_risk,mitigate",
    ),
    records(
      "POST /vulnerabilities/bulk/mitigate",
      "vulnerability.mitigate",
      "vulnerability.{remediate,accept_risk,mitigate",
    ),
    records("POST /software/catalog/:id/versions", "software.version.create", "software.{catalog.CUD,version.create}"),
    records("PATCH /discovery/assets/:id/monitoring", "discovery.asset.monitoring.update", "asset.monitoring.update}"),
    records(
      "POST /alerts/rules/:id/test; POST /snmp/oids/validate",
      "",
      "(unless named not: own notifications, previews, one-time tickets, agent reports)",
      "a preview or a check that writes nothing",
    ),
    answers(
      "POST /alert-templates/templates; POST /alerts/policies; POST /alerts/channels; POST /alerts/rules; POST /scripts; POST /script-library/categories; POST /script-library/tags; POST /automations",
      "+LIMIT_REACHED",
      "per owner (422 `LIMIT_REACHED`): 500 rules",
    ),
    answers(
      "PATCH /alert-templates/templates/:id; DELETE /alert-templates/templates/:id; PUT /scripts/:id; DELETE /scripts/:id; POST /script-library/scripts/:id/versions; PATCH /snmp/templates/:id; DELETE /snmp/templates/:id",
      "+BUILT_IN_IMMUTABLE",
      "403 on a built-in or system row `BUILT_IN_IMMUTABLE`",
    ),
    answers(
      "DELETE /alerts/policies/:id",
      "-LIMIT_REACHED",
      "per owner (422 `LIMIT_REACHED`): 500 rules",
      "deleting adds none",
    ),
    answers(
      "POST /scripts/:id/execute",
      "-LIMIT_REACHED -NOT_FOUND",
      "excluded into `failures`: unknown, foreign",
      "one device's outcome, not the answer",
    ),
    answers(
      "POST /script-library/categories; PATCH /script-library/categories/:id; POST /script-library/tags",
      "+NAME_TAKEN -DUPLICATE -INVALID_STATE",
      "409 taken name `NAME_TAKEN`, other taken key `DUPLICATE`",
    ),
    answers(
      "POST /alerts/channels; PATCH /alerts/channels/:id",
      "+UNSAFE_URL",
      "(400 `UNSAFE_URL` at save; failed at send)",
    ),
    tells(
      "POST /alerts/:id/suppress",
      "alert.suppressed",
      "alert.{triggered,acknowledged,resolved,suppressed,dismissed,escalated}",
    ),
    tells(
      "POST /alerts/:id/dismiss",
      "alert.dismissed",
      "alert.{triggered,acknowledged,resolved,suppressed,dismissed,escalated}",
    ),
    tells("POST /patches/scan", "", "event patch.available for new pending ones"),
    tells("POST /patches/:id/rollback", "", "event patch.rollback"),
  ],
};
