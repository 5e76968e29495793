import { silent } from "./rules.ts";

/** What an answer shows of a device and of the row beside it, if there is one. */
export const shownColumns = [
  "devices.id as deviceId",
  "devices.orgId",
  "devices.hostname",
  "devices.displayName",
  "devices.osType as os",
  "devices.status as deviceStatus",
  "security.providerId",
  "security.providerName",
  "security.providerVendor",
  "security.providerVersion",
  "security.definitionsVersion",
  "security.definitionsUpdatedAt",
  "security.status",
  "security.riskLevel",
  "security.lastScanAt",
  "security.lastScanType",
  "security.threatCount as threatsDetected",
  "security.realTimeProtection",
  "security.firewallEnabled",
  "security.encryptionStatus",
  "security.gatekeeperEnabled",
] as const;

interface Shown {
  hostname: string;
  displayName: string | null;
  deviceStatus: string;
  providerId: string | null;
  providerName: string | null;
  providerVendor: string | null;
  riskLevel: Parameters<typeof silent>[0];
}

export function deviceView<Row extends Shown>(row: Row) {
  const { hostname, displayName, deviceStatus, providerName: name, providerVendor: vendor, ...shown } = row;
  return {
    ...shown,
    deviceName: displayName ?? hostname,
    provider: row.providerId === null ? null : { id: row.providerId, name, vendor },
    ...(deviceStatus === "offline" ? silent(row.riskLevel) : {}),
  };
}
