import type { notificationPriorities, notificationTypes } from "#contract/resources/people/notifications";
import type { Fixed, Json } from "../column-types.ts";
import type { Declared } from "../table-declaration.ts";
import type { ApproverDevicesTable, ApproverRegistrationsTable, AssertionChallengesTable } from "./approver-devices.ts";

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
  /** The membership they chose last; a sign-in takes it while it can be used. */
  selectedMembershipId: string | null;
  /** After a rescue on the server's host: one sign-in before this passes where single sign-on is enforced. */
  rescuedUntil: string | null;
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
  /** Null: an invitation that its person has not accepted. It gives nothing and shows nothing of the person. */
  acceptedAt: string | null;
  /** Null = unknown, or an identity provider made it. */
  invitedBy: string | null;
  /** As the inviter wrote them: all that is shown until the person accepts. */
  invitedName: Fixed<string | null>;
  invitedEmail: Fixed<string | null>;
  /** Last use of a session in this membership. */
  lastActiveAt: string | null;
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
  /** Null: an invitation that its person has not accepted. It gives nothing and shows nothing of the person. */
  acceptedAt: string | null;
  /** Null = unknown, or an identity provider made it. */
  invitedBy: string | null;
  /** As the inviter wrote them: all that is shown until the person accepts. */
  invitedName: Fixed<string | null>;
  invitedEmail: Fixed<string | null>;
  /** Last use of a session in this membership. */
  lastActiveAt: string | null;
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

/** What a person was told; `orgId` null: about the partner itself, `partnerId` null too: about the installation. */
export interface NotificationsTable {
  id: Fixed<string>;
  userId: Fixed<string>;
  partnerId: Fixed<string | null>;
  orgId: Fixed<string | null>;
  /** Whose members are told of it; null = only who reaches the whole organization. */
  siteId: Fixed<string | null>;
  type: Fixed<(typeof notificationTypes)[number]>;
  priority: (typeof notificationPriorities)[number];
  title: string;
  message: string;
  link: Fixed<string | null>;
  metadata: Json;
  /** Of the row that counts what came beyond the limit: how many. */
  more: number | null;
  readAt: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

export interface PeopleTables {
  users: UsersTable;
  partnerUsers: PartnerUsersTable;
  partnerUserOrgs: PartnerUserOrgsTable;
  organizationUsers: OrganizationUsersTable;
  roles: RolesTable;
  rolePermissions: RolePermissionsTable;
  notifications: NotificationsTable;
  approverDevices: ApproverDevicesTable;
  approverRegistrations: ApproverRegistrationsTable;
  assertionChallenges: AssertionChallengesTable;
}

/** What a person may do outlasts whoever wrote it: the server alone writes it (docs/credentials.md, "Who writes credentials"). */
const lifted = ["insert", "update", "delete"] as const;

export const peopleTables = {
  // People belong to several tenants.
  users: {
    owner: "member",
    writtenBy: "people/core",
    booleans: ["isPlatformAdmin"],
    json: ["preferences"],
    lifted,
  },
  partnerUsers: { owner: "partner", writtenBy: "people/core", lifted },
  partnerUserOrgs: { owner: "partner", writtenBy: "people/core", lifted },
  organizationUsers: { owner: "org", writtenBy: "people/core", lifted, json: ["siteIds"] },
  roles: { owner: "tenant-or-builtin", writtenBy: "access", lifted, booleans: ["isSystem", "forceMfa"] },
  rolePermissions: { owner: "system", writtenBy: "access" },
  notifications: { owner: "tenant", writtenBy: "people/notifications", json: ["metadata"], lifted: ["insert"] },
  approverDevices: {
    owner: "system",
    writtenBy: "people/core",
    booleans: ["isBackupEligible", "isPlatformBound"],
    json: ["transports"],
  },
  approverRegistrations: { owner: "system", writtenBy: "people/core" },
  assertionChallenges: { owner: "system", writtenBy: "people/core" },
} as const satisfies Declared<PeopleTables>;
