import type { Fixed } from "../column-types.ts";

/** A device that a person approves with (docs/approver-devices.md). It belongs to the person, in every tenant. */
export interface ApproverDevicesTable {
  id: Fixed<string>;
  userId: Fixed<string>;
  /** base64url, of everybody's devices once. */
  credentialId: Fixed<string>;
  /** COSE key, base64url. */
  publicKey: Fixed<string>;
  /** Of its last signature; 0 where it does not count. */
  counter: number;
  /** Its key may be copied to other machines. */
  isBackupEligible: Fixed<boolean>;
  /** Its key has never been seen as one that leaves the device. */
  isPlatformBound: boolean;
  transports: Fixed<string[]>;
  label: Fixed<string>;
  createdAt: Fixed<string>;
  lastUsedAt: string | null;
  disabledAt: string | null;
}

/** A registration that a session has begun. */
export interface ApproverRegistrationsTable {
  sessionId: Fixed<string>;
  userId: Fixed<string>;
  /** SHA-256: whoever has the challenge may read what it is for. */
  challengeHash: string;
  expiresAt: string;
}

/** What a session may sign for the approval of one request. */
export interface AssertionChallengesTable extends ApproverRegistrationsTable {
  elevationRequestId: Fixed<string>;
}

/** What a partner demands of approvals in its organizations (docs/approver-devices.md, "Policy of a partner"). */
export interface AuthenticatorPoliciesTable {
  partnerId: Fixed<string>;
  /** Level by the name of a tier. */
  floorOverrides: Partial<Record<"low" | "medium" | "high" | "critical", number>>;
  requireEnrollment: boolean;
  enforceFrom: string | null;
  updatedAt: string;
}
