import type { KeyKind } from "./key-kinds.ts";

/** A machine credential of any kind, without its secret. */
export interface ListedKey {
  readonly kind: KeyKind;
  /** Id for `rmm keys rotate`; for a service principal the id of its key. */
  readonly id: string;
  readonly name: string;
  /** Slug; null for a key of the partner. */
  readonly organization: string | null;
  readonly orgId: string | null;
  readonly principal: string | null;
  readonly principalId: string | null;
  /** Enrollment keys have none. */
  readonly keyPrefix: string | null;
  /** `exhausted`: an enrollment key that has reached its maximum usage. `disabled`: its principal is disabled. */
  readonly status: "active" | "expired" | "revoked" | "exhausted" | "disabled";
  /** When the current secret was created. */
  readonly issuedAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

export const listedKeyFields = [
  "kind",
  "id",
  "name",
  "organization",
  "orgId",
  "principal",
  "principalId",
  "keyPrefix",
  "status",
  "issuedAt",
  "expiresAt",
  "lastUsedAt",
] as const satisfies readonly (keyof ListedKey)[];

export const listedKeyColumns = ["name", "kind", "organization", "status", "issuedAt", "expiresAt", "lastUsedAt", "id"];
