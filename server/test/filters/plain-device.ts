/** A device as the plain evaluator knows it: all that a filter may ask, in one object. */
export interface PlainDevice {
  id: string;
  orgId: string;
  partnerId: string;
  siteId: string | null;
  hostname: string;
  displayName: string | null;
  agentVersion: string;
  lastUser: string | null;
  status: string;
  enrolledAt: string | null;
  lastSeenAt: string | null;
  quarantinedAt: string | null;
  tags: string[];
  deviceRole: string;
  isHeadless: boolean;
  pendingReboot: boolean;
  uptimeSeconds: number | null;
  watchdogStatus: string | null;
  osType: string;
  osVersion: string;
  osBuild: string | null;
  architecture: string;
  lastSeenIp: string | null;
  customFields: Record<string, unknown>;
  hardware: Record<string, string | number | null> | null;
  /** Oldest first. */
  metrics: { timestamp: string; cpuPercent: number; ramPercent: number; diskPercent: number }[];
  interfaces: { ipAddress: string | null; publicIp: string | null; macAddress: string | null }[];
  /** Null = never reported. */
  software: string[] | null;
  patches: string[] | null;
  groupIds: string[];
}

export interface PlainDefinition {
  orgId: string | null;
  partnerId: string | null;
  fieldKey: string;
  type: "text" | "number" | "boolean" | "dropdown" | "date";
  defaultValue: unknown;
  deviceTypes: string[] | null;
}

export interface PlainCondition {
  field: string;
  operator: string;
  // biome-ignore lint/suspicious/noExplicitAny: of whichever shape the operator takes
  value?: any;
}

export interface PlainGroup {
  operator: "AND" | "OR";
  conditions: (PlainGroup | PlainCondition)[];
}
