import type { ColumnType } from "kysely";
import type { PartnerKeyScope } from "#contract/core/key-scopes";
import type { Fixed } from "../column-types.ts";
import type { Declared } from "../table-declaration.ts";

export interface ApiKeysTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  name: string;
  /** First 12 characters, the only part that is ever shown again. */
  keyPrefix: string;
  /** SHA-256 of the whole key, hex. */
  keyHash: string;
  scopes: string[];
  expiresAt: string | null;
  /** Requests an hour. */
  rateLimit: number;
  status: "active" | "expired" | "revoked";
  /** `service` where a service principal owns the key. */
  principalType: "human" | "service";
  principalId: string | null;
  createdBy: Fixed<string | null>;
  /** Who made today's material: created it or rotated it last. */
  issuedBy: string | null;
  lastUsedAt: string | null;
  usageCount: number;
  /** When this material was made: at creation or by the last rotation. */
  keyIssuedAt: string;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/**
 * A machine identity of an organization, whose keys outlive the people who made them
 * (docs/credentials.md, "Service principals").
 */
export interface ServicePrincipalsTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  name: string;
  scopes: string[];
  /** `disabled` is the end. */
  status: "active" | "disabled";
  createdBy: Fixed<string | null>;
  lastUpdatedBy: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** A machine identity of a partner for the partner API (docs/credentials.md, "Partner service principals"). */
export interface PartnerServicePrincipalsTable {
  id: Fixed<string>;
  partnerId: Fixed<string>;
  name: string;
  description: string | null;
  status: "active" | "disabled";
  scopes: PartnerKeyScope[];
  /** `selected`: the organizations of `partnerServicePrincipalOrgs`. */
  orgAccess: "all" | "selected";
  expiresAt: string | null;
  /** Addresses and networks its keys may come from; empty = anywhere. */
  sourceCidrs: string[];
  /** Requests an hour of all its keys together. */
  rateLimit: number;
  createdBy: Fixed<string | null>;
  updatedBy: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

export interface PartnerServicePrincipalOrgsTable {
  partnerId: Fixed<string>;
  principalId: Fixed<string>;
  orgId: Fixed<string>;
}

export interface PartnerServicePrincipalKeysTable {
  id: Fixed<string>;
  partnerId: Fixed<string>;
  principalId: Fixed<string>;
  name: string;
  /** First 18 characters. */
  keyPrefix: Fixed<string>;
  /** SHA-256 of the whole key, hex. */
  keyHash: Fixed<string>;
  status: "active" | "revoked";
  expiresAt: string | null;
  /** Requests an hour of this key alone, within its principal's; null = as many as that. */
  rateLimit: number | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
  rotatedFromId: Fixed<string | null>;
  createdBy: Fixed<string | null>;
  createdAt: Fixed<string>;
  updatedAt: string;
}

export interface EnrollmentKeysTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  siteId: string | null;
  name: string;
  /** SHA-256 of `pepper:key`, hex. */
  keyHash: string;
  enrollmentSecretHash: string | null;
  /** Null = unlimited. */
  maxUsage: number | null;
  usageCount: number;
  expiresAt: string;
  createdBy: Fixed<string | null>;
  createdByPrincipalId: Fixed<string | null>;
  /** When this material was made: at creation or by the last rotation. */
  keyIssuedAt: string;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** A row that exports show, kept by triggers (docs/credentials.md, "What counts as a change"). */
export interface ExportRowsTable {
  kind: Kept<ExportedKind>;
  id: Kept<string>;
  partnerId: Kept<string>;
  /** Null: of the whole partner. */
  orgId: Kept<string | null>;
  siteId: Kept<string | null>;
  /** Since when it is exported. Times are the database's own. */
  firstAt: Kept<string>;
  /** Of devices: without what inventory, place and software have a time of their own for. */
  changedAt: Kept<string>;
  inventoryAt: Kept<string | null>;
  placedAt: Kept<string | null>;
  softwareAt: Kept<string | null>;
  /** Of a custom value: its device and its field. */
  deviceId: Kept<string | null>;
  fieldId: Kept<string | null>;
}

/** A row that went away from an organization and site, kept by triggers for somewhat more than 30 days. */
export interface ExportRemovalsTable {
  seq: Kept<number>;
  kind: Kept<ExportedKind>;
  rowId: Kept<string>;
  partnerId: Kept<string>;
  orgId: Kept<string | null>;
  siteId: Kept<string | null>;
  firstAt: Kept<string>;
  removedAt: Kept<string>;
}

/** Since when an organization is open to partner principals, or no more; kept by triggers. */
export interface ExportOrgReachTable {
  orgId: Kept<string>;
  partnerId: Kept<string>;
  reached: Kept<boolean>;
  changedAt: Kept<string>;
}

/** The same for one principal; without a row it reaches what its access says and always did. */
export interface ExportPrincipalReachTable extends ExportOrgReachTable {
  principalId: Kept<string>;
}

export type ExportedKind =
  | "organization"
  | "site"
  | "device"
  | "custom_field"
  | "custom_field_value"
  | "configuration_policy"
  | "configuration_assignment";
/** Written by triggers alone. */
type Kept<T> = ColumnType<T, never, never>;

export interface CredentialTables {
  apiKeys: ApiKeysTable;
  servicePrincipals: ServicePrincipalsTable;
  partnerServicePrincipals: PartnerServicePrincipalsTable;
  partnerServicePrincipalOrgs: PartnerServicePrincipalOrgsTable;
  partnerServicePrincipalKeys: PartnerServicePrincipalKeysTable;
  enrollmentKeys: EnrollmentKeysTable;
  exportRows: ExportRowsTable;
  exportRemovals: ExportRemovalsTable;
  exportOrgReach: ExportOrgReachTable;
  exportPrincipalReach: ExportPrincipalReachTable;
}

// A key that a tenant's own connection made, or a reach that it widened, would outlive the connection; and who issued a
// key may not approve what it asks for. So the server alone writes them, once it has judged the caller.
const lifted = ["insert", "update", "delete"] as const;

export const credentialTables = {
  apiKeys: { owner: "org", writtenBy: "credentials/api-keys", lifted, json: ["scopes"] },
  servicePrincipals: { owner: "org", writtenBy: "credentials/service-principals", lifted, json: ["scopes"] },
  partnerServicePrincipals: {
    owner: "partner",
    writtenBy: "credentials/partner-service-principals",
    lifted,
    json: ["scopes", "sourceCidrs"],
  },
  partnerServicePrincipalOrgs: { owner: "partner", writtenBy: "credentials/partner-service-principals", lifted },
  partnerServicePrincipalKeys: { owner: "partner", writtenBy: "credentials/partner-service-principals", lifted },
  enrollmentKeys: { owner: "org+site", writtenBy: "credentials/enrollment-keys", lifted },
  exportRows: { owner: "partner", writtenBy: "db", lifted },
  exportRemovals: {
    owner: "partner",
    writtenBy: "credentials/partner-api",
    lifted,
  },
  exportOrgReach: {
    owner: "partner",
    writtenBy: "db",
    lifted,
    booleans: ["reached"],
  },
  exportPrincipalReach: {
    owner: "partner",
    writtenBy: "db",
    lifted,
    booleans: ["reached"],
  },
} as const satisfies Declared<CredentialTables>;
