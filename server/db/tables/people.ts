import type { Fixed, Json } from "../column-types.ts";
import type { Declared } from "../table-declaration.ts";

export interface UsersTable {
  id: Fixed<string>;
  /** Lower-cased, unique. */
  email: string;
  name: string;
  avatarUrl: string | null;
  status: "invited" | "active" | "disabled";
  /** argon2id, PHC string. */
  passwordHash: string | null;
  passwordChangedAt: string | null;
  /** AES-GCM sealed TOTP secret; null = not enrolled. */
  mfaSecret: string | null;
  /** Highest TOTP time step accepted so far: each step counts once. */
  mfaLastStep: number;
  /** Sealed secret and recovery codes of a setup that is not confirmed yet. */
  mfaPending: string | null;
  mfaPendingExpiresAt: string | null;
  isPlatformAdmin: boolean;
  lastLoginAt: string | null;
  emailVerifiedAt: string | null;
  preferences: Json;
  failedLogins: number;
  lockedUntil: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

export interface PartnerUsersTable {
  id: Fixed<string>;
  partnerId: Fixed<string>;
  userId: Fixed<string>;
  roleId: string;
  orgAccess: "all" | "selected" | "none";
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** The organizations of a partner user with `orgAccess: "selected"`. */
export interface PartnerUserOrgsTable {
  partnerId: Fixed<string>;
  membershipId: Fixed<string>;
  orgId: Fixed<string>;
}

export interface OrganizationUsersTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  userId: Fixed<string>;
  roleId: string;
  /** Null = every site. */
  siteIds: string[] | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

export interface RolesTable {
  id: Fixed<string>;
  scope: Fixed<"system" | "partner" | "organization">;
  partnerId: Fixed<string | null>;
  orgId: Fixed<string | null>;
  name: string;
  description: string | null;
  isSystem: Fixed<boolean>;
  forceMfa: boolean;
  parentRoleId: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

export interface RolePermissionsTable {
  roleId: Fixed<string>;
  permission: Fixed<string>;
}

export interface PeopleTables {
  users: UsersTable;
  partnerUsers: PartnerUsersTable;
  partnerUserOrgs: PartnerUserOrgsTable;
  organizationUsers: OrganizationUsersTable;
  roles: RolesTable;
  rolePermissions: RolePermissionsTable;
}

export const peopleTables = {
  // People belong to several tenants.
  users: {
    owner: "member",
    writtenBy: "people/core",
    booleans: ["isPlatformAdmin"],
    json: ["preferences"],
    lifted: ["insert", "update", "delete"],
  },
  partnerUsers: { owner: "partner", writtenBy: "people/core" },
  partnerUserOrgs: { owner: "partner", writtenBy: "people/core" },
  organizationUsers: { owner: "org", writtenBy: "people/core", json: ["siteIds"] },
  roles: { owner: "tenant-or-builtin", writtenBy: "access", booleans: ["isSystem", "forceMfa"] },
  rolePermissions: { owner: "system", writtenBy: "access" },
} as const satisfies Declared<PeopleTables>;
