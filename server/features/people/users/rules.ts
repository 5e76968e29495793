import type { Limit } from "#server/access/rate-limit";
import { invalid, problem } from "#server/problem";

/** Counts failed acceptances only (docs/people.md, "Accepting an invitation"). */
export const acceptPerAddress: Limit = { name: "accept-invite", max: 10, windowSeconds: 3_600 };

const PREFERENCES_MAX_BYTES = 64 * 1024;

/** Stored preferences with the given keys replaced, and those given as null removed. */
export function mergePreferences(
  stored: Record<string, unknown>,
  given: Record<string, unknown>,
): Record<string, unknown> {
  const merged = Object.fromEntries(Object.entries({ ...stored, ...given }).filter(([, value]) => value !== null));
  if (Buffer.byteLength(JSON.stringify(merged)) > PREFERENCES_MAX_BYTES) {
    throw invalid({ path: "preferences", message: `preferences: must be at most ${PREFERENCES_MAX_BYTES} bytes` });
  }
  return merged;
}

export interface AccessFields {
  orgAccess?: "all" | "selected" | "none" | undefined;
  orgIds?: readonly string[] | undefined;
  siteIds?: readonly string[] | null | undefined;
}

/** Which access fields belong to which kind of membership (docs/people.md, "Inviting"). */
export function refuseMisplacedAccess(kind: "partner" | "organization", fields: AccessFields): void {
  if (kind === "organization") {
    if (fields.orgIds !== undefined) throw problem("ORG_IDS_NOT_ALLOWED");
    if (fields.orgAccess !== undefined) {
      throw invalid({ path: "orgAccess", message: "orgAccess is for members of a partner" });
    }
    return;
  }
  if (fields.siteIds) throw invalid({ path: "siteIds", message: "siteIds is for members of an organization" });
  const selected = fields.orgAccess === "selected";
  if (selected && !fields.orgIds?.length) throw problem("ORG_IDS_REQUIRED");
  if (!selected && fields.orgIds?.length) throw problem("ORG_IDS_NOT_ALLOWED");
}
