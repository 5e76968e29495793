import type { SchemaChange } from "../schema-change.ts";

/**
 * The region of an address is stored under `region` alone (docs/tenancy.md, "Sites"). Where both names said different
 * things, what stood under `state` stays, as `otherRegion`. An exported field changes, so the row counts as changed.
 */
export const migration: SchemaChange = {
  statements: (dialect) => (dialect === "postgres" ? postgres : sqlite).map((set) => `update sites set ${set}`),
};

const sqliteBlank = (key: string) => `coalesce(address ->> '$.${key}', '') = ''`;
const sqliteHas = "json_valid(address) and json_type(address) = 'object' and json_type(address, '$.state') is not null";
const sqliteNow = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";
const postgresBlank = (key: string) => `coalesce(address ->> '${key}', '') = ''`;
const postgresHas = "jsonb_typeof(address) = 'object' and address ? 'state'";

/** Renamed where there is no region, kept under another name where it differs, then gone. `->` keeps the JSON type. */
const sqlite = [
  `address = json_set(address, '$.region', address -> '$.state') where ${sqliteHas} and ${sqliteBlank("region")}`,
  `address = json_set(address, '$.otherRegion', address -> '$.state') where ${sqliteHas} and not ${sqliteBlank("state")}
    and address -> '$.state' <> address -> '$.region' and json_type(address, '$.otherRegion') is null`,
  `address = json_remove(address, '$.state'), updated_at = ${sqliteNow} where ${sqliteHas}`,
];

const postgres = [
  `address = address || jsonb_build_object('region', address -> 'state') where ${postgresHas} and ${postgresBlank("region")}`,
  `address = address || jsonb_build_object('otherRegion', address -> 'state') where ${postgresHas} and not ${postgresBlank("state")}
    and address -> 'state' <> address -> 'region' and not address ? 'otherRegion'`,
  `address = address - 'state', updated_at = now() where ${postgresHas}`,
];
