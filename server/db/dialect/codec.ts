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
  "reached",
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

/** Names that queries give to JSON columns where two of one name meet. */
const jsonAliases: ReadonlySet<string> = new Set(["org_settings"]);

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

/** What a column's value becomes; undefined = it is what features see already. */
export function sqliteDecoder(column: string): ((value: unknown) => unknown) | undefined {
  if (booleanColumns.has(column)) return (value) => value === 1 || value === 1n;
  if (jsonColumns.has(column) || jsonAliases.has(column))
    return (value) => (typeof value === "string" ? JSON.parse(value) : value);
  return undefined;
}
