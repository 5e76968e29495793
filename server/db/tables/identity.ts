import type { Fixed, Json } from "./tenancy.ts";

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

export interface RecoveryCodesTable {
  id: Fixed<string>;
  userId: Fixed<string>;
  codeHash: Fixed<string>;
  usedAt: string | null;
  createdAt: Fixed<string>;
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

/** One sign-in; its refresh tokens follow each other in `refreshTokens`. */
export interface SessionsTable {
  id: Fixed<string>;
  userId: Fixed<string>;
  createdAt: Fixed<string>;
  lastUsedAt: string;
  ipAddress: string | null;
  userAgent: string | null;
  mfaVerifiedAt: string | null;
  absoluteExpiresAt: Fixed<string>;
  revokedAt: string | null;
  revokedReason: string | null;
  /** The identity provider of the sign-in; null = a password or an invitation. */
  ssoProviderId: Fixed<string | null>;
  /** The tenant it was begun in: an organization, or a partner; neither = the installation, or before this was kept. */
  memberOrgId: Fixed<string | null>;
  memberPartnerId: Fixed<string | null>;
}

export interface RefreshTokensTable {
  id: Fixed<string>;
  sessionId: Fixed<string>;
  tokenHash: Fixed<string>;
  createdAt: Fixed<string>;
  expiresAt: Fixed<string>;
  spentAt: string | null;
}

/** One-time tokens, stored hashed. */
export interface UserTokensTable {
  id: Fixed<string>;
  userId: Fixed<string>;
  kind: Fixed<"mfa_login" | "password_reset" | "invite">;
  tokenHash: Fixed<string>;
  failures: number;
  createdAt: Fixed<string>;
  expiresAt: Fixed<string>;
  usedAt: string | null;
  /** What the token stands for, such as the membership an invitation made. */
  data: Json;
}

export interface IdentityTables {
  users: UsersTable;
  recoveryCodes: RecoveryCodesTable;
  partnerUsers: PartnerUsersTable;
  partnerUserOrgs: PartnerUserOrgsTable;
  organizationUsers: OrganizationUsersTable;
  roles: RolesTable;
  rolePermissions: RolePermissionsTable;
  sessions: SessionsTable;
  refreshTokens: RefreshTokensTable;
  userTokens: UserTokensTable;
}
