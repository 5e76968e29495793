import type { KeyKind } from "./key-kinds.ts";

/** One credential of a machine, whatever its kind. Its material is nowhere here. */
export interface ListedKey {
  readonly kind: KeyKind;
  /** What `rmm keys rotate` takes; of a service principal's key the key's own. */
  readonly id: string;
  readonly name: string;
  /** Slug; null for a key of the partner. */
  readonly organization: string | null;
  readonly orgId: string | null;
  readonly principal: string | null;
  readonly principalId: string | null;
  /** Enrollment keys have none. */
  readonly keyPrefix: string | null;
  /** `exhausted`: an enrollment key that was used as often as it may be. `disabled`: its principal is. */
  readonly status: "active" | "expired" | "revoked" | "exhausted" | "disabled";
  /** When the present material was made. */
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
