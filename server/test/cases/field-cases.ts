export interface FieldCase {
  /** File → how many tests of the case it has. */
  readonly tests: Readonly<Record<string, number>>;
  /** The noun, or the endpoint, that must exist before there can be tests. */
  readonly waitsFor?: string;
}

const held = (tests: Readonly<Record<string, number>>): FieldCase => ({ tests });

const waitsFor = (what: string): FieldCase => ({ tests: {}, waitsFor: what });

/** Conditions under which a test may be skipped: the machine lacks a program, or one database lacks the feature. */
export const mayLack: ReadonlySet<string> = new Set([
  "chromiumPath === undefined",
  "pgbouncerPath === undefined",
  'process.platform !== "linux"',
  "!mayChangeNames",
  'database === "postgres"',
]);

const keys = "server/features/credentials/enrollment-keys/enrollment-keys.test.ts";
const apiKeys = "server/features/credentials/api-keys/api-keys.test.ts";
const partnerKeys = "server/features/credentials/partner-api/writes.test.ts";
const keyPipeline = "server/http/api-key-pipeline.test.ts";
const organizations = "server/features/tenancy/organizations/organizations.test.ts";
const partners = "server/features/tenancy/partners/partners.test.ts";
const sites = "server/features/tenancy/sites/sites.test.ts";
const contacts = "server/features/tenancy/contacts/contacts.test.ts";
const enroll = "server/features/fleet/agents/enroll.test.ts";
const provision = "server/features/fleet/devices/provision.test.ts";
const deviceQuery = "server/features/fleet/devices/query.test.ts";
const search = "server/features/fleet/search/search.test.ts";
const auditLogs = "server/features/audit/audit-logs/audit-logs.test.ts";
const auditReading = "server/features/audit/audit-logs/reading.test.ts";
const ssoLogins = "server/features/sign-in/sso-logins/sso-logins.test.ts";
const sessions = "server/features/sign-in/sessions/sessions.test.ts";
const elevations = "server/features/access-control/elevation-requests";
const decision = "server/features/access-control/core/decision";
const pamRules = "server/features/access-control/pam-rules/pam-rules.test.ts";
const twoProcesses = "server/test/fault/two-processes.test.ts";
const oddRequests = "server/test/conformance/sweeps/odd-requests.ts";

/** Every kind of fault of the glossary (server/GLOSSARY.md). */
export const fieldCases: Readonly<Record<string, FieldCase>> = {
  C01: held({ [enroll]: 1, [provision]: 1 }),
  C02: held({ [enroll]: 1, [provision]: 1, [twoProcesses]: 1 }),
  C03: held({ [keys]: 1, [partnerKeys]: 1 }),
  C04: held({ [apiKeys]: 1, [keys]: 1, [provision]: 1 }),
  C05: held({ [apiKeys]: 2, [keyPipeline]: 1, [twoProcesses]: 3 }),
  C06: held({ [keyPipeline]: 1, [twoProcesses]: 1 }),
  C07: held({ "cli/credentials.test.ts": 6, [keyPipeline]: 1 }),
  C08: held({ [partnerKeys]: 1, [twoProcesses]: 1 }),
  C09: held({ "cli/tree.test.ts": 1, [apiKeys]: 1, [partnerKeys]: 1 }),
  C10: held({
    [keys]: 1,
    [contacts]: 1,
    [sites]: 1,
    "server/features/fleet/device-commands/device-commands.test.ts": 1,
  }),
  C11: held({ [organizations]: 1, [partners]: 2 }),
  C12: held({
    "server/features/fleet/devices/change-devices.test.ts": 1,
    [apiKeys]: 1,
    [keys]: 1,
    [contacts]: 1,
    [partners]: 1,
    [sites]: 1,
  }),
  C13: held({
    [auditLogs]: 1,
    "server/features/fleet/devices/devices.test.ts": 1,
    [deviceQuery]: 1,
    [search]: 1,
    "server/features/fleet/saved-filters/saved-filters.test.ts": 1,
    "server/db/device-names.test.ts": 1,
    [organizations]: 1,
    [oddRequests]: 1,
  }),
  C14: held({
    ...{ [deviceQuery]: 2, [`${decision}/glob.test.ts`]: 1, [`${decision}/decide.test.ts`]: 1 },
    "server/features/access-control/pam-rules/preview.test.ts": 1,
  }),
  C15: held({ [organizations]: 1, [search]: 1, [partners]: 1, [oddRequests]: 2 }),
  C16: held({ [apiKeys]: 1, [keys]: 1, [organizations]: 1, [partners]: 1, [oddRequests]: 1 }),
  C17: waitsFor("alerts"),
  C18: held({ "server/features/fleet/saved-filters/preview.test.ts": 3 }),
  C19: held({ [ssoLogins]: 1, [contacts]: 1 }),
  C20: held({ "server/features/sign-in/sso-logins/accounts.test.ts": 1 }),
  C21: held({
    "server/features/integrations/webhooks/deliveries.test.ts": 1,
    "server/features/sign-in/sso-providers/discovery.test.ts": 15,
  }),
  C22: held({
    "server/features/sign-in/sso-logins/enforcement.test.ts": 10,
    "server/features/sign-in/sso-logins/login-page.test.ts": 1,
  }),
  C23: held({ [ssoLogins]: 1 }),
  C24: held({ "sdk/node/file-store.test.ts": 1, "sdk/session.test.ts": 2, [sessions]: 1, [twoProcesses]: 1 }),
  C25: held({ [`${elevations}/races.test.ts`]: 1 }),
  C26: held({
    ...{ [`${decision}/reading.test.ts`]: 1, [pamRules]: 1 },
    "server/features/access-control/pam-rules/preview.test.ts": 1,
  }),
  C27: held({
    [pamRules]: 1,
    [`${decision}/criteria.test.ts`]: 1,
    "server/features/access-control/signer-groups/signer-groups.test.ts": 1,
  }),
  C28: held({ [`${decision}/decide.test.ts`]: 1, [`${decision}/decide-report.test.ts`]: 2, [pamRules]: 1 }),
  C29: held({ [`${elevations}/elevation-requests.test.ts`]: 1 }),
  C30: held({ "server/features/audit/audit-logs/export.test.ts": 5 }),
  C31: held({ "server/audit/writer.test.ts": 1, "server/test/fault/two-chains.test.ts": 1 }),
  C32: held({ "server/audit/entry.test.ts": 1, "server/audit/restored.test.ts": 1, "server/audit/tamper.test.ts": 1 }),
  C33: held({
    "server/audit/anchors.test.ts": 2,
    "server/audit/tamper.test.ts": 1,
    "server/features/audit/audit-logs/proof.test.ts": 1,
    "server/features/audit/audit-logs/schedules.test.ts": 2,
  }),
  C34: held({ "server/test/conformance/sweeps/secrets.ts": 1 }),
  C35: held({ [auditReading]: 1, [sessions]: 1 }),
  C36: held({ [auditLogs]: 1, "server/features/audit/audit-logs/bounds.test.ts": 4 }),
  C37: held({ [auditReading]: 4 }),
  C38: held({ "server/audit/anchors.test.ts": 1, "server/audit/growing.test.ts": 1, "server/audit/writer.test.ts": 1 }),
  C39: waitsFor("ticket-attachments"),
  C40: waitsFor("ticket-attachments"),
  C41: waitsFor("tickets"),
  C42: waitsFor("invoices"),
  C43: waitsFor("invoices"),
  C44: waitsFor("accounting-connections"),
  C45: waitsFor("marketplace-orders"),
  C46: waitsFor("marketplace-orders"),
  C47: waitsFor("marketplace-orders"),
  C48: held({ "cli/process.test.ts": 2 }),
  C49: held({ "cli/secrets.test.ts": 2 }),
  C50: held({ "cli/commands/commands.test.ts": 1, "cli/tree.test.ts": 2 }),
  C51: held({ "cli/generic/run-endpoint.test.ts": 3 }),
  C52: held({ "cli/credentials.test.ts": 3 }),
  C53: held({ "sdk/abort.test.ts": 1, "sdk/retry.test.ts": 5 }),
  C54: held({ "cli/generic/run-endpoint.test.ts": 1 }),
  C55: held({ "cli/credentials.test.ts": 3 }),
  C56: held({ "server/features/sign-in/sso-logins/announced.test.ts": 7 }),
  C57: held({ "server/test/fault/pgbouncer.test.ts": 2 }),
  C58: held({
    "cli/input/equal-meaning.test.ts": 1,
    "server/http/exact-values.test.ts": 4,
    "server/test/conformance/sweeps/exact-values.ts": 1,
  }),
  C59: held({ "cli/waits.test.ts": 7 }),
  C60: held({ "server/features/platform/service-status/writes.test.ts": 2 }),
  C61: held({ [enroll]: 1 }),
  C62: held({ [enroll]: 1 }),
  C63: held({ "cli/input/readers.test.ts": 5 }),
  C64: held({ "cli/input/equal-meaning.test.ts": 4, "cli/input/readers.test.ts": 1 }),
  C65: held({
    "cli/provisioning/alike.test.ts": 3,
    "sdk/contract/one-spelling.test.ts": 7,
    "server/http/one-spelling.test.ts": 3,
  }),
  C66: held({
    "cli/proxy.test.ts": 1,
    "sdk/contract/core/proxy.test.ts": 4,
    "sdk/node/proxied.test.ts": 5,
    "server/platform/tunnel.test.ts": 6,
  }),
  C67: held({ "cli/input/line-ends.test.ts": 4 }),
  C68: held({ "cli/input/spreadsheet.test.ts": 8 }),
};
