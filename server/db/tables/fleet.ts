import type { GeneratedAlways } from "kysely";
import type { CommandType } from "#contract/core/command-types";
import type { FilterGroup } from "#contract/core/filters/condition";
import type { customFieldTypes } from "#contract/resources/fleet/custom-fields";
import type { commandStatuses } from "#contract/resources/fleet/device-commands";
import type { deviceRoles } from "#contract/resources/fleet/devices";
import type { Fixed, Json } from "../column-types.ts";
import type { Declared } from "../table-declaration.ts";
import type {
  DeviceGroupDueTable,
  DeviceGroupFieldsTable,
  DeviceGroupLogTable,
  DeviceGroupMembersTable,
  DeviceGroupsTable,
} from "./device-groups.ts";
import type { DeviceEventLogsTable, DeviceLogHoursTable, DeviceLogsTable } from "./device-logs.ts";

export type DeviceStatus =
  | "pending"
  | "online"
  | "offline"
  | "updating"
  | "maintenance"
  | "quarantined"
  | "decommissioned";

export interface DevicesTable {
  id: Fixed<string>;
  /** Changed by a move alone (docs/fleet.md, "Moving to another organization"). */
  orgId: string;
  /** The partner of the organization; kept by the database. */
  partnerId: GeneratedAlways<string>;
  siteId: string | null;
  /** 64 hex; null until enrolled. */
  agentId: string | null;
  hostname: string;
  /** Names as they are ordered and searched: without case, in byte order. */
  hostnameKey: GeneratedAlways<string>;
  displayName: string | null;
  displayKey: GeneratedAlways<string | null>;
  osType: "windows" | "macos" | "linux";
  osVersion: string;
  osBuild: string | null;
  architecture: string;
  agentVersion: string;
  deviceRole: (typeof deviceRoles)[number];
  deviceRoleSource: "auto" | "manual";
  isVirtual: boolean;
  status: DeviceStatus;
  lastSeenAt: string | null;
  lastSeenIp: string | null;
  enrolledAt: string | null;
  tags: string[];
  customFields: Json;
  /** Whether software was ever reported; kept by the database. */
  softwareReported: GeneratedAlways<boolean>;
  lastUser: string | null;
  uptimeSeconds: number | null;
  isHeadless: boolean;
  pendingReboot: boolean;
  watchdogStatus: "connected" | "failover" | "offline" | null;
  watchdogVersion: string | null;
  watchdogSeenAt: string | null;
  mainAgentSilentSince: string | null;
  maintenanceUntil: string | null;
  quarantinedAt: string | null;
  quarantinedReason: string | null;
  decommissionedAt: string | null;
  /** SHA-256 hex. The previous pair stays valid until `previousTokensExpireAt`. */
  agentTokenHash: string | null;
  watchdogTokenHash: string | null;
  previousAgentTokenHash: string | null;
  previousWatchdogTokenHash: string | null;
  previousTokensExpireAt: string | null;
  tokensIssuedAt: string | null;
  /** SHA-256 of the enrollment key and the nonce that the agent keeps, and how long they get it new tokens. */
  enrollmentProof: string | null;
  enrollmentProofUntil: string | null;
  /** Of the key that it enrolled, or may enroll, with. */
  enrollmentSecretHash: string | null;
  /** SHA-256 of `pepper:key` of the key that is for this device alone, while it is pending. */
  provisionKeyHash: string | null;
  provisionKeyExpiresAt: string | null;
  /** The newest connection of its agent: an older one ends (docs/agents.md, "One connection"). */
  connectionId: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** The tags of devices as rows; kept by the database. */
export interface DeviceTagsTable {
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  tag: Fixed<string>;
}

export interface DeviceHardwareTable {
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  manufacturer: string | null;
  model: string | null;
  serialNumber: string | null;
  cpuModel: string | null;
  cpuCores: number | null;
  cpuThreads: number | null;
  ramTotalMb: number | null;
  diskTotalGb: number | null;
  gpuModel: string | null;
  biosVersion: string | null;
  updatedAt: string;
}

export interface DeviceInterfacesTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  interfaceName: string;
  macAddress: string | null;
  ipAddress: string | null;
  subnetMask: string | null;
  publicIp: string | null;
  isPrimaryInterface: boolean;
}

/** A file system; sizes in GB. */
export interface DeviceDisksTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  mountPoint: string;
  fsType: string | null;
  totalGb: number | null;
  usedGb: number | null;
  freeGb: number | null;
  usedPercent: number | null;
}

/** An installed program; keeps its id while name and vendor stay the same without regard to case. */
export interface DeviceSoftwareTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  name: string;
  version: string | null;
  vendor: string | null;
  installDate: string | null;
  installLocation: string | null;
  uninstallString: string | null;
}

/** Devices that have said what is installed: one that said nothing yet is not one without software. */
export interface DeviceSoftwareReportsTable {
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  firstReportedAt: Fixed<string>;
}

/** One sample; percents 0..100, errors are running counters, bandwidth bits/s, disk bytes/s. */
export interface DeviceMetricsTable {
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  timestamp: Fixed<string>;
  cpuPercent: number;
  ramPercent: number;
  diskPercent: number;
  /** The optional fields of a sample as reported. */
  extra: Json;
}

/** Of each device the newest row of the table above; kept by the database. */
export interface DeviceNewestMetricsTable {
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  timestamp: Fixed<string>;
  cpuPercent: Fixed<number>;
  ramPercent: Fixed<number>;
  diskPercent: Fixed<number>;
}

/** The means of the samples of one hour, once they are too old to be kept each. */
export interface DeviceMetricHoursTable {
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  /** When it begins. */
  hour: Fixed<string>;
  /** How many samples there were. */
  samples: number;
  cpuPercent: number;
  ramPercent: number;
  diskPercent: number;
  /** The optional fields that are numbers. */
  extra: Json;
}

/** Every online/offline change, the input of service-level reports. */
export interface DeviceAvailabilityTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  /** Null once the device has left the organization. */
  deviceId: string | null;
  /** What the device was called when it left. */
  hostname: string | null;
  state: Fixed<"online" | "offline">;
  at: Fixed<string>;
}

/** Source addresses whose appearance was audited; one entry a device and address in 24 hours. */
export interface DeviceSourceIpsTable {
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  ip: Fixed<string>;
  auditedAt: string;
}

/** A token that its device has replaced. */
export interface ReplacedAgentTokensTable {
  /** SHA-256 hex. */
  tokenHash: Fixed<string>;
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  replacedAt: Fixed<string>;
}

/** A field that devices have beside their own; of an organization, or of a whole partner. */
export interface CustomFieldsTable {
  id: Fixed<string>;
  orgId: Fixed<string | null>;
  partnerId: Fixed<string | null>;
  name: string;
  fieldKey: Fixed<string>;
  type: Fixed<(typeof customFieldTypes)[number]>;
  options: FieldOptions | null;
  required: boolean;
  /** JSON text of one value. */
  defaultJson: string | null;
  deviceTypes: ("windows" | "macos" | "linux")[] | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** What values of a custom field must satisfy. */
export interface FieldOptions {
  choices?: { label: string; value: string }[] | undefined;
  min?: number | undefined;
  max?: number | undefined;
  minLength?: number | undefined;
  maxLength?: number | undefined;
  pattern?: string | undefined;
}

/** Something that an agent is told to do (docs/fleet.md, "Commands"). */
export interface DeviceCommandsTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  /** Null once the device has left the organization; its name stays. */
  deviceId: string | null;
  hostname: Fixed<string>;
  type: Fixed<CommandType>;
  /** Secrets in it are masked; as long as it may still be sent, the whole stands in `payloadSealed`. */
  payload: Fixed<Json>;
  payloadSealed: string | null;
  status: (typeof commandStatuses)[number];
  targetRole: Fixed<"agent" | "watchdog">;
  originKind: Fixed<string | null>;
  originId: Fixed<string | null>;
  createdBy: Fixed<string | null>;
  queuedAt: Fixed<string>;
  sentAt: string | null;
  completedAt: string | null;
  /** Of the wait until it is claimed, then of the run. */
  expiresAt: string;
  runMs: Fixed<number>;
  /** `result` of the API. */
  outcome: Json | null;
  /** What a caller waits for, until it is taken. */
  answerSealed: string | null;
  updatedAt: string;
}

/** A filter under a name (docs/filters.md, "Saved filters"). */
export interface SavedFiltersTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  name: string;
  description: string | null;
  conditions: FilterGroup;
  /** Custom fields that its conditions name. */
  customKeys: string[];
  createdBy: Fixed<string | null>;
  createdAt: Fixed<string>;
  updatedAt: string;
}

export interface FleetTables {
  devices: DevicesTable;
  deviceTags: DeviceTagsTable;
  deviceHardware: DeviceHardwareTable;
  deviceInterfaces: DeviceInterfacesTable;
  deviceDisks: DeviceDisksTable;
  deviceSoftware: DeviceSoftwareTable;
  deviceSoftwareReports: DeviceSoftwareReportsTable;
  deviceMetrics: DeviceMetricsTable;
  deviceNewestMetrics: DeviceNewestMetricsTable;
  deviceMetricHours: DeviceMetricHoursTable;
  deviceAvailability: DeviceAvailabilityTable;
  deviceSourceIps: DeviceSourceIpsTable;
  replacedAgentTokens: ReplacedAgentTokensTable;
  customFields: CustomFieldsTable;
  deviceCommands: DeviceCommandsTable;
  deviceGroups: DeviceGroupsTable;
  deviceGroupMembers: DeviceGroupMembersTable;
  deviceGroupLog: DeviceGroupLogTable;
  deviceGroupFields: DeviceGroupFieldsTable;
  deviceGroupDue: DeviceGroupDueTable;
  savedFilters: SavedFiltersTable;
  deviceLogs: DeviceLogsTable;
  deviceEventLogs: DeviceEventLogsTable;
  deviceLogHours: DeviceLogHoursTable;
}

export const fleetTables = {
  devices: {
    owner: "org+site",
    writtenBy: "fleet/devices",
    partnerKept: true,
    booleans: ["isVirtual", "isHeadless", "pendingReboot", "softwareReported"],
    json: ["tags", "customFields"],
  },
  deviceTags: { owner: "org", writtenBy: "fleet/devices" },
  deviceHardware: { owner: "org", writtenBy: "fleet/devices" },
  deviceInterfaces: { owner: "org", writtenBy: "fleet/devices", booleans: ["isPrimaryInterface"] },
  deviceDisks: { owner: "org", writtenBy: "fleet/devices" },
  deviceSoftware: { owner: "org", writtenBy: "fleet/agent-reports" },
  deviceSoftwareReports: { owner: "org", writtenBy: "fleet/agent-reports" },
  deviceMetrics: { owner: "org", writtenBy: "fleet/agents", json: ["extra"] },
  deviceNewestMetrics: { owner: "org", writtenBy: "fleet/agents" },
  deviceMetricHours: { owner: "org", writtenBy: "fleet/agents", json: ["extra"] },
  deviceAvailability: { owner: "org", writtenBy: "fleet/devices" },
  deviceSourceIps: { owner: "org", writtenBy: "fleet/agents" },
  replacedAgentTokens: { owner: "org", writtenBy: "fleet/agents", lifted: ["insert", "update", "delete"] },
  customFields: {
    owner: "tenant-shared",
    writtenBy: "fleet/custom-fields",
    booleans: ["required"],
    json: ["options", "deviceTypes"],
  },
  deviceCommands: { owner: "org", writtenBy: "fleet/device-commands", json: ["payload", "outcome"] },
  deviceGroups: {
    owner: "org+site",
    writtenBy: "fleet/device-groups",
    booleans: ["byClock"],
    json: ["filterConditions", "filterFieldsUsed", "filterGroupIds"],
  },
  deviceGroupMembers: { owner: "org", writtenBy: "fleet/device-groups", booleans: ["isPinned"] },
  deviceGroupLog: { owner: "org", writtenBy: "fleet/device-groups" },
  deviceGroupFields: { owner: "system", writtenBy: "fleet/device-groups" },
  deviceGroupDue: { owner: "system", writtenBy: "fleet/device-groups" },
  savedFilters: { owner: "org", writtenBy: "fleet/saved-filters", json: ["conditions", "customKeys"] },
  deviceLogs: { owner: "org", writtenBy: "fleet/device-logs", json: ["fields"] },
  deviceEventLogs: { owner: "org", writtenBy: "fleet/device-logs", json: ["fields"] },
  deviceLogHours: { owner: "org", writtenBy: "fleet/hourly-entries" },
} as const satisfies Declared<FleetTables>;
