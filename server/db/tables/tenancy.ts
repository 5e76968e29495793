import type { Fixed, Json } from "../column-types.ts";
import type { Declared } from "../table-declaration.ts";

interface Stamps {
  createdAt: Fixed<string>;
  updatedAt: string;
}

export interface PartnersTable extends Stamps {
  id: Fixed<string>;
  name: string;
  slug: string;
  type: "msp" | "enterprise" | "internal";
  plan: "free" | "starter" | "community" | "pro" | "enterprise" | "unlimited";
  status: "pending" | "active" | "suspended" | "churned";
  maxOrganizations: number | null;
  maxDevices: number | null;
  settings: Json;
  ssoConfig: Json;
  billingEmail: string | null;
  serviceManagementMode: "native" | "external" | "off";
  serviceManagementPsaConnectionId: string | null;
  deletedAt: string | null;
}

export type OrganizationStatus =
  | "active"
  | "trial"
  | "suspended"
  | "churned"
  | "offboarding"
  | "merging"
  | "archived"
  | "purging";

export interface OrganizationsTable extends Stamps {
  id: Fixed<string>;
  partnerId: Fixed<string>;
  name: string;
  slug: string;
  type: "customer" | "internal";
  status: OrganizationStatus;
  maxDevices: number | null;
  settings: Json;
  ssoConfig: Json;
  contractStart: string | null;
  contractEnd: string | null;
  billingContact: Json | null;
  offboardingStartedAt: string | null;
  offboardingTarget: "archived" | "churned" | null;
  archivedAt: string | null;
  retentionMode: "keep" | "purge_after" | null;
  purgeAt: string | null;
  mergedIntoOrgId: string | null;
  deletedAt: string | null;
}

export interface SitesTable extends Stamps {
  id: Fixed<string>;
  orgId: Fixed<string>;
  name: string;
  timezone: string;
  address: Json | null;
  contact: Json | null;
  settings: Json;
}

export interface ContactsTable extends Stamps {
  id: Fixed<string>;
  orgId: Fixed<string>;
  siteId: string | null;
  name: string | null;
  email: string | null;
  phone: string | null;
  mobile: string | null;
  title: string | null;
  roles: string[];
  isPrimary: boolean;
  notes: string | null;
}

export interface TenancyTables {
  partners: PartnersTable;
  organizations: OrganizationsTable;
  sites: SitesTable;
  contacts: ContactsTable;
}

export const tenancyTables = {
  partners: { owner: "partners", writtenBy: "tenancy/partners", json: ["settings", "ssoConfig"] },
  organizations: {
    owner: "organizations",
    writtenBy: "tenancy/organizations",
    json: ["settings", "ssoConfig", "billingContact"],
  },
  sites: { owner: "sites", writtenBy: "tenancy/sites", json: ["address", "contact", "settings"] },
  contacts: { owner: "org+site?", writtenBy: "tenancy/contacts", booleans: ["isPrimary"], json: ["roles"] },
} as const satisfies Declared<TenancyTables>;
