/** Words of devices, apart from their shapes: what only names them loads no schema. */
export const osTypes = ["windows", "macos", "linux"] as const;
export const deviceStatuses = [
  "pending",
  "online",
  "offline",
  "updating",
  "maintenance",
  "quarantined",
  "decommissioned",
] as const;
export const deviceRoles = [
  "workstation",
  "server",
  "printer",
  "router",
  "switch",
  "firewall",
  "access_point",
  "phone",
  "iot",
  "camera",
  "nas",
  "unknown",
] as const;
