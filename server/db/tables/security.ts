import type { encryptionStatuses, protectionStatuses, riskLevels } from "#contract/resources/security/security-posture";
import type {
  rawThreatStatuses,
  threatCategories,
  threatSeverities,
  threatStatuses,
} from "#contract/resources/security/threats";
import type { Fixed, Json } from "../column-types.ts";
import type { Declared } from "../table-declaration.ts";

/** What protects a device, as it reports it; null is what it does not say (docs/security.md, "Reports"). */
export interface DeviceSecurityTable {
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  providerId: string | null;
  providerName: string | null;
  providerVendor: string | null;
  providerVersion: string | null;
  definitionsVersion: string | null;
  definitionsUpdatedAt: string | null;
  realTimeProtection: boolean | null;
  firewallEnabled: boolean | null;
  firewallProfiles: Json | null;
  encryptionStatus: (typeof encryptionStatuses)[number] | null;
  encryptionDetails: Json | null;
  recoveryKeyEscrowed: boolean | null;
  gatekeeperEnabled: boolean | null;
  localAdmins: Json[] | null;
  passwordPolicy: Json | null;
  openPorts: Json[] | null;
  lastScanAt: string | null;
  lastScanType: string | null;
  /** Active and allowed ones. */
  threatCount: number;
  /** What the facts say of the device while it is heard of; lists filter by them (docs/security.md, "Status"). */
  status: Exclude<(typeof protectionStatuses)[number], "offline"> | null;
  riskLevel: (typeof riskLevels)[number] | null;
  updatedAt: string;
}

/** What its agent's protection found on a device (docs/security.md, "Threats"). */
export interface DeviceThreatsTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  /** Null once the device has left the organization. */
  deviceId: string | null;
  /** What the device was called when it left. */
  hostname: string | null;
  /** Of the provider: what it is told to do is told by it. */
  externalId: string | null;
  providerId: string | null;
  name: Fixed<string>;
  category: (typeof threatCategories)[number] | null;
  severity: (typeof threatSeverities)[number];
  status: (typeof threatStatuses)[number];
  rawStatus: (typeof rawThreatStatuses)[number];
  filePath: Fixed<string | null>;
  detectedAt: string;
  removedAt: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

export interface SecurityTables {
  deviceSecurity: DeviceSecurityTable;
  deviceThreats: DeviceThreatsTable;
}

export const securityTables = {
  deviceSecurity: {
    owner: "org",
    writtenBy: "security/security-posture",
    booleans: ["realTimeProtection", "firewallEnabled", "recoveryKeyEscrowed", "gatekeeperEnabled"],
    json: ["firewallProfiles", "encryptionDetails", "localAdmins", "passwordPolicy", "openPorts"],
  },
  deviceThreats: { owner: "org", writtenBy: "security/threats" },
} as const satisfies Declared<SecurityTables>;
