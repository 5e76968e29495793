import { keyOf, type Listed } from "./documents.ts";

/** A noun of the contract's table: the endpoints it holds and the beginning of its audit actions. */
interface Noun {
  readonly noun: string;
  readonly paths: RegExp;
  readonly audit?: string;
}

const noun = (name: string, paths: RegExp, audit?: string): Noun => ({
  noun: name,
  paths,
  ...(audit ? { audit } : {}),
});

/** The first that matches `METHOD /path` owns it; how many each owns is checked against the contract's table. */
const nouns: readonly Noun[] = [
  noun("mfa", / \/auth\/mfa\//),
  noun("passwords", / \/auth\/(forgot|reset|change)-password$/),
  noun("registrations", / \/auth\/(invite\/|accept-invite|register-partner|verify-email)/),
  noun("sso-logins", / \/(auth\/(sso-discovery|login-context)|sso\/(check|login|callback|exchange|link|cli))\b/),
  noun("sessions", / \/auth\//),
  noun("partners", / \/orgs\/partners\b/, "partner"),
  noun("contacts", / \/orgs\/(contacts\b|organizations\/:id\/contacts)/, "contact"),
  noun("audit-retention", /\/audit-retention$/, "audit_retention"),
  noun("portal-users", /\/portal-users|\/portal\/auth\//, "portal_user"),
  noun("organizations", / \/orgs\/(organizations\b|$)/, "organization"),
  noun("sites", / \/orgs\/sites\b/, "site"),
  noun("saved-filters", / \/filters\b/, "filter"),
  noun("search", / \/search$/),
  noun("custom-fields", / \/custom-fields\b|\/devices\/:id\/custom-fields$/, "custom_field"),
  noun("device-commands", / \/devices\/(:id|bulk)\/commands/, "device.command"),
  noun("device-logs", /\/(logs|eventlogs|diagnostic-logs)$(?<=(agents|devices)\/:id\/\S+)/),
  noun("elevation-requests", /elevation|\/pam\/active/, "pam.elevation_request"),
  noun("devices", / \/devices\b/, "device"),
  noun("device-groups", / \/groups\b/, "device_group"),
  noun("tags", / \/tags\b/),
  noun("users", / \/users\b/, "user"),
  noun("roles", / \/roles\b/, "role"),
  noun("access-reviews", / \/access-reviews\b/, "access_review"),
  noun("agents", / \/agents\b/, "agent"),
  noun("alert-rules", / \/alerts\/rules\b/, "alert_rule"),
  noun("alert-channels", / \/alerts\/channels\b/, "notification_channel"),
  noun("alert-policies", / \/alerts\/policies\b/, "escalation_policy"),
  noun("alerts", / \/alerts\b/, "alert"),
  noun("alert-templates", / \/alert-templates\/templates\b/, "alert_template"),
  noun("alert-correlations", / \/alert-templates\/correlations\b/, "alert_correlation"),
  noun("script-executions", / \/scripts\/(executions|:id\/execut)/, "script.execution"),
  noun("scripts", / \/scripts\b/, "script"),
  noun("script-categories", / \/script-library\/categories\b/, "script_library.category"),
  noun("script-tags", / \/script-library\/tags\b/, "script_library.tag"),
  noun("script-versions", / \/script-library\/scripts\/:id\/(versions|rollback)\b/, "script_library.version"),
  noun("script-templates", / \/script-library\//),
  noun("automation-runs", / \/automations\/(runs\/|:id\/runs)/),
  noun("automations", / \/automations\b/, "automation"),
  noun("incidents", / \/incidents\b/),
  noun("patch-compliance", / \/patches\/compliance\b/),
  noun("patch-approvals", / \/patches\/(approvals|bulk-approve|:id\/(approve|decline|defer))$/, "patch"),
  noun("patch-jobs", / \/patches\/(jobs|scan)$/, "patch"),
  noun("patches", / \/patches\b/, "patch"),
  noun("patch-policies", / \/patch-policies\b/, "patch_policy"),
  noun("third-party-apps", / \/third-party-catalog\b/, "third_party_catalog"),
  noun("threats", / \/security\/threats\b/, "security.threat"),
  noun("security-scans", / \/security\/scans?\b/, "security.scan"),
  noun("security-recommendations", / \/security\/recommendations\b/, "security.recommendation"),
  noun("security-policies", / \/security\/policies\b/, "security.policy"),
  noun("security-posture", / \/security\//),
  noun("vulnerabilities", / \/vulnerabilities\b/, "vulnerability"),
  noun("software-catalog-items", / \/software\/catalog\b/, "software.catalog"),
  noun("software-deployments", / \/software\/deployments\b/, "software.deployment"),
  noun("software-inventory", / \/software\/inventory\b/, "software"),
  noun("monitor-rules", / \/monitors\/(alerts|:monitorId\/alerts)\b/, "monitor.alert_rule"),
  noun("monitors", / \/monitors\b/, "monitor"),
  noun("discovery-profiles", / \/discovery\/profiles\b/, "discovery.profile"),
  noun("discovery-jobs", / \/discovery\/(jobs|scan)\b/, "discovery.job"),
  noun("discovery-assets", / \/discovery\//, "discovery.asset"),
  noun("snmp-templates", / \/snmp\/templates\b/, "snmp.template"),
  noun("snmp-metrics", / \/snmp\/(metrics|oids)\b/),
  noun("snmp-thresholds", / \/snmp\/thresholds\b/, "snmp.threshold"),
  noun("snmp-devices", / \/snmp\//, "snmp.device"),
  noun("remote-sessions", / \/remote\//, "remote_session"),
  noun("tunnels", / \/(tunnels|tunnel-http)\b/, "tunnel"),
  noun("processes", / \/system-tools\/devices\/:deviceId\/processes\b/, "device.process"),
  noun("services", / \/system-tools\/devices\/:deviceId\/services\b/, "device.service"),
  noun("registry-entries", / \/system-tools\/devices\/:deviceId\/registry\b/, "device.registry"),
  noun("event-logs", / \/system-tools\/devices\/:deviceId\/eventlogs\b/),
  noun("scheduled-tasks", / \/system-tools\/devices\/:deviceId\/tasks\b/, "device.task"),
  noun("files", / \/system-tools\/devices\/:deviceId\/files\b/, "device.file"),
  noun("maintenance-windows", / \/maintenance\/windows\b/, "maintenance_window"),
  noun("maintenance-occurrences", / \/maintenance\//, "maintenance_occurrence"),
  noun("configuration-policies", / \/policies\b/, "policy"),
  noun("deployments", / \/deployments\b/, "deployment"),
  noun("report-runs", / \/reports\/runs\b/),
  noun("reports", / \/reports\b/, "report"),
  noun("dashboards", / \/analytics\/(dashboards|widgets)\b/, "analytics.dashboard"),
  noun("slas", / \/analytics\/sla\b/, "analytics.sla"),
  noun("analytics", / \/analytics\//),
  noun("notifications", / \/notifications\b/),
  noun("accounting-connections", / \/(accounting\/|webhooks\/accounting)/, "accounting.connection"),
  noun("webhook-deliveries", / \/webhooks\/:id\/(deliveries|retry)\b/, "webhook"),
  noun("webhooks", / \/webhooks\b/, "webhook"),
  noun("plugin-installations", / \/plugins\/installations\b/, "plugin"),
  noun("plugins", / \/plugins\b/),
  noun("mcp-tools", / \/mcp$/),
  noun("dev-events", / \/dev\//, "dev"),
  noun("service-status", / \/(health\b|metrics$|openapi\.json$|docs$)/),
  noun("api-keys", / \/api-keys\b/, "api_key"),
  noun("enrollment-keys", / \/enrollment-keys\b/, "enrollment_key"),
  noun("service-principals", / \/service-principals\b/, "service_principal"),
  noun("partner-exports", / \/partner-api\//),
  noun("partner-service-principals", / \/partner-service-principals\b/, "partner_service_principal"),
  noun("sso-domains", / \/sso\/domains\b/, "sso.domain"),
  noun("sso-providers", / \/sso\//, "sso.provider"),
  noun("login-branding", / \/partners\/me\/login-branding$/, "partner.login_branding"),
  noun("approver-devices", / \/authenticator\//, "auth.authenticator.device"),
  noun("pam-rules", / \/pam\/rules\b/, "pam.rule"),
  noun("signer-groups", / \/pam\/signer-groups\b/, "pam.signer_group"),
  noun("pam-config", / \/pam\/config$/, "pam.config"),
  noun("audit-logs", / \/audit-logs\b/, "audit_logs"),
  noun("ticket-attachments", /\/attachments\b/, "ticket.attachment"),
  noun("ticket-comments", / \/tickets\/:id\/comments$/, "ticket"),
  noun("tickets", / \/tickets\b/, "ticket"),
  noun("ticket-response-templates", / \/ticket-response-templates\b/, "ticket_response_template"),
  noun("catalog-items", / \/catalog\b/, "catalog"),
  noun("invoices", / \/(public\/)?invoices\b/, "invoice"),
  noun("contracts", / \/contracts\b/, "contract"),
  noun("quotes", / \/(public\/)?quotes\b/, "quote"),
  noun("marketplace-companies", / \/marketplace\/companies\b/, "marketplace.company"),
  noun("marketplace-subscriptions", / \/marketplace\/subscriptions\b/, "marketplace.subscription"),
  noun("marketplace-products", / \/marketplace\/products\b/),
  noun("marketplace-orders", / \/marketplace\/orders\b/, "marketplace.order"),
  noun("marketplace-integrations", / \/marketplace\//, "marketplace.integration"),
];

export function nounOf(endpoint: string): Noun {
  const found = nouns.find(({ paths }) => paths.test(endpoint));
  if (!found) throw new Error(`${endpoint} belongs to no noun`);
  return found;
}

/** Faults where the contract's table of nouns counts other endpoints than these patterns. */
export function nounFaults(conventions: readonly string[], listed: readonly Listed[]): string[] {
  const counted = new Map<string, [number, number]>();
  for (const one of listed) {
    const count = counted.get(nounOf(keyOf(one)).noun) ?? [0, 0];
    count[one.kind === "specification" ? 0 : 1] += 1;
    counted.set(nounOf(keyOf(one)).noun, count);
  }
  const tabled = new Map<string, [number, number]>();
  for (const line of conventions.filter((text) => /^\| \d \S+ \||^\| \d \S+–\S+ \|/.test(text)))
    for (const [, name, own, extra] of line.matchAll(/([a-z][a-z-]+) (\d+)?(?:\+(\d+))?(?=[ ,]|$)/g))
      if (own ?? extra) tabled.set(name as string, [Number(own ?? 0), Number(extra ?? 0)]);
  return [...new Set([...counted.keys(), ...tabled.keys()])].flatMap((name) => {
    const here = (counted.get(name) ?? [0, 0]).join("+");
    const there = (tabled.get(name) ?? [0, 0]).join("+");
    return here === there ? [] : [`${name}: the table of nouns counts ${there} endpoints, the patterns ${here}`];
  });
}
