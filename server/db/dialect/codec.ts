/**
 * Features see booleans and parsed JSON on both databases. SQLite has neither, so the columns that
 * hold them are known by name; a test compares these lists with what Postgres declares.
 */
export const booleanColumns: ReadonlySet<string> = new Set([
  "is_primary",
  "is_platform_admin",
  "is_system",
  "force_mfa",
  "is_virtual",
  "is_headless",
  "pending_reboot",
  "is_primary_interface",
  "sealed",
  "auto_provision",
  "enforce_sso",
  "trusts_idp_mfa",
]);

export const jsonColumns: ReadonlySet<string> = new Set([
  "settings",
  "sso_config",
  "billing_contact",
  "address",
  "contact",
  "roles",
  "preferences",
  "site_ids",
  "data",
  "scopes",
  "source_cidrs",
  "tags",
  "custom_fields",
  "extra",
  "payload",
  "entry",
  "attribute_mapping",
  "profile",
]);

/** Objects and arrays are stored as JSON text on both databases: no array columns exist. */
export function encodeJson(value: unknown): unknown {
  if (value === null || typeof value !== "object" || value instanceof Uint8Array) return value;
  return JSON.stringify(value);
}

export function encodeSqlite(value: unknown): unknown {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value === undefined) return null;
  return encodeJson(value);
}

/** Converts in place: rows come straight from the driver and belong to nobody else. */
export function decodeSqliteRow(row: Record<string, unknown>): Record<string, unknown> {
  for (const column in row) {
    const value = row[column];
    if (value === null) continue;
    if (booleanColumns.has(column)) row[column] = value === 1 || value === 1n;
    else if (typeof value === "string" && jsonColumns.has(column)) row[column] = JSON.parse(value);
  }
  return row;
}
