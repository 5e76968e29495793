import type { AuditTables } from "../audit/tables.ts";
import type { CredentialTables } from "./tables/credentials.ts";
import type { DeviceTables } from "./tables/devices.ts";
import type { IdentityTables } from "./tables/identity.ts";
import type { PlatformTables } from "./tables/platform.ts";
import type { SsoTables } from "./tables/sso.ts";
import type { TenancyTables } from "./tables/tenancy.ts";

/**
 * Every table of the product as the features see it: camelCase, ISO-8601 strings, booleans, parsed
 * JSON on both databases.
 */
export interface Database
  extends TenancyTables,
    IdentityTables,
    CredentialTables,
    SsoTables,
    DeviceTables,
    PlatformTables,
    AuditTables {}

/**
 * Who owns a table's rows. The tenant-scope plugin, row-level security and the schema test are all
 * made from this map; a table without an owner does not compile (server/README.md, "Five locks on tenancy").
 *
 * - `partners`, `organizations`: the hierarchy itself, by its own id.
 * - `org`: by `orgId`. `org+site`: by `orgId`, and by `siteId` for callers confined to sites.
 * - `org+site?`: the same, and rows of the whole organization (`siteId` null) are seen by callers confined to sites.
 * - `partner`: by `partnerId`.
 * - `tenant`: by `orgId`, or by `partnerId` where `orgId` is null; neither = system scope only.
 * - `tenant-or-builtin`: as `tenant`, and rows without an owner are readable by all.
 * - `member`: users, by their memberships.
 * - `system`: reachable through `asSystem` alone.
 */
export type Ownership =
  | "partners"
  | "organizations"
  | "org"
  | "org+site"
  | "org+site?"
  | "sites"
  | "partner"
  | "tenant"
  | "tenant-or-builtin"
  | "member"
  | "system";

export const ownership = {
  partners: "partners",
  organizations: "organizations",
  sites: "sites",
  contacts: "org+site?",
  auditRetention: "org",
  users: "member",
  partnerUsers: "partner",
  partnerUserOrgs: "partner",
  organizationUsers: "org",
  roles: "tenant-or-builtin",
  rolePermissions: "system",
  sessions: "system",
  refreshTokens: "system",
  userTokens: "system",
  recoveryCodes: "system",
  apiKeys: "org",
  servicePrincipals: "org",
  partnerServicePrincipals: "partner",
  partnerServicePrincipalOrgs: "partner",
  partnerServicePrincipalKeys: "partner",
  enrollmentKeys: "org+site",
  exportRows: "partner",
  exportRemovals: "partner",
  exportOrgReach: "partner",
  exportPrincipalReach: "partner",
  ssoProviders: "tenant",
  ssoIdentities: "system",
  ssoLoginSessions: "system",
  ssoExchangeCodes: "system",
  ssoDomains: "org",
  partnerLoginBranding: "partner",
  devices: "org+site",
  deviceHardware: "org",
  deviceInterfaces: "org",
  deviceMetrics: "org",
  deviceAvailability: "org",
  deviceSourceIps: "org",
  jobs: "system",
  leases: "system",
  rateLimits: "system",
  idempotencyKeys: "system",
  mailOutbox: "system",
  auditOutbox: "system",
  auditLogs: "tenant",
  auditChain: "system",
  auditAnchors: "system",
  auditPrunes: "system",
  auditRefusals: "system",
} as const satisfies Record<keyof Database, Ownership>;

export type TableName = keyof Database;
