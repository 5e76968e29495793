/** What both databases' triggers say alike: which columns an export shows, and when a row is exported at all. */

export const organizationFields = ["name", "slug", "type"];
export const siteFields = ["name", "timezone", "address", "contact"];
export const deviceFields = [
  "hostname",
  "display_name",
  "os_type",
  "os_version",
  "os_build",
  "architecture",
  "device_role",
  "is_virtual",
  "enrolled_at",
  "tags",
];
export const identityFields = ["serial_number", "manufacturer", "model"];
export const hardwareFields = ["cpu_model", "cpu_cores", "ram_total_mb", "gpu_model", "bios_version"];
export const interfaceFields = ["interface_name", "mac_address", "ip_address", "is_primary_interface"];

export const customFieldFields = ["name", "options", "required", "default_json", "device_types"];

/** Times of a device's row, one for each part of it that an export of its own shows. */
export const deviceTimes = ["changed_at", "inventory_at", "placed_at"];

export const differs = (columns: readonly string[]): string =>
  `(${columns.map((column) => `old.${column} is distinct from new.${column}`).join(" or ")})`;

/** Partner principals reach active and trial organizations (docs/conventions.md, "Tenant reach"). */
export const isOpen = (row: "old" | "new"): string =>
  `(${row}.deleted_at is null and ${row}.status in ('active', 'trial'))`;

export const GONE = "decommissioned";
