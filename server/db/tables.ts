import type { Area } from "#contract/areas";
import type { AuditTables } from "../audit/tables.ts";
import type { Ownership, TableDeclaration } from "./table-declaration.ts";
import { type AccessControlTables, accessControlTables } from "./tables/access-control.ts";
import { type AlertingTables, alertingTables } from "./tables/alerting.ts";
import { type AuditAreaTables, auditTables } from "./tables/audit.ts";
import { type AutomationTables, automationTables } from "./tables/automation.ts";
import { type CredentialTables, credentialTables } from "./tables/credentials.ts";
import { type FleetTables, fleetTables } from "./tables/fleet.ts";
import { type IntegrationTables, integrationTables } from "./tables/integrations.ts";
import { type PeopleTables, peopleTables } from "./tables/people.ts";
import { type PlatformTables, platformTables } from "./tables/platform.ts";
import { type SecurityTables, securityTables } from "./tables/security.ts";
import { type SignInTables, signInTables } from "./tables/sign-in.ts";
import { type SoftwareTables, softwareTables } from "./tables/software.ts";
import { type TenancyTables, tenancyTables } from "./tables/tenancy.ts";

export type { Ownership } from "./table-declaration.ts";

/**
 * Every table of the product as the features see it: camelCase, ISO-8601 strings, booleans, parsed
 * JSON on both databases. Each stands in the file of its area.
 */
export interface Database
  extends TenancyTables,
    PeopleTables,
    SignInTables,
    CredentialTables,
    FleetTables,
    AccessControlTables,
    SecurityTables,
    AutomationTables,
    SoftwareTables,
    AlertingTables,
    IntegrationTables,
    AuditTables,
    AuditAreaTables,
    PlatformTables {}

export type TableName = keyof Database;

/** The declarations of each area's tables. */
export const tablesByArea = {
  tenancy: tenancyTables,
  people: peopleTables,
  "sign-in": signInTables,
  credentials: credentialTables,
  fleet: fleetTables,
  "access-control": accessControlTables,
  security: securityTables,
  alerting: alertingTables,
  automation: automationTables,
  software: softwareTables,
  // Nothing of it is kept.
  remote: {},
  integrations: integrationTables,
  audit: auditTables,
  platform: platformTables,
} as const satisfies Record<Area, object>;

/** What each table is declared to be; a table without a declaration does not compile. */
export const tables = {
  ...tenancyTables,
  ...peopleTables,
  ...signInTables,
  ...credentialTables,
  ...fleetTables,
  ...accessControlTables,
  ...securityTables,
  ...alertingTables,
  ...automationTables,
  ...softwareTables,
  ...integrationTables,
  ...auditTables,
  ...platformTables,
} as const satisfies { readonly [T in TableName]: TableDeclaration<Database[T]> };

export const tableNames = Object.keys(tables) as readonly TableName[];

/** Who owns the rows of each table. */
export const ownership = Object.fromEntries(tableNames.map((name) => [name, tables[name].owner])) as {
  readonly [T in TableName]: Ownership;
};

/** Tables whose rows tell the partner of their organization. */
export const partnerKept: ReadonlySet<TableName> = new Set(
  tableNames.filter((name) => (tables[name] as TableDeclaration<unknown>).partnerKept),
);
