import type { eventCategories, eventLevels } from "#contract/core/policy-features/event-log";
import type { logLevels } from "#contract/resources/fleet/device-logs";
import type { Fixed, Json } from "../column-types.ts";

/** What an agent logged; it stays with the organization that the device leaves. */
export interface DeviceLogsTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  timestamp: Fixed<string>;
  level: Fixed<(typeof logLevels)[number]>;
  component: Fixed<string>;
  /** Secrets in it, and in the fields, are masked. */
  message: Fixed<string>;
  fields: Fixed<Json | null>;
  agentVersion: Fixed<string | null>;
  createdAt: Fixed<string>;
}

/** An entry of an event log of the device's operating system; once for each source and id. */
export interface DeviceEventLogsTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  timestamp: Fixed<string>;
  level: Fixed<(typeof eventLevels)[number]>;
  category: Fixed<(typeof eventCategories)[number]>;
  source: Fixed<string>;
  eventId: Fixed<string>;
  message: Fixed<string>;
  /** `details` of the API. */
  fields: Fixed<Json | null>;
  createdAt: Fixed<string>;
}

/** Submissions and changes of a device since one was audited: they become one entry at the end of the hour. */
export interface DeviceLogHoursTable {
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  kind: Fixed<"logs" | "eventlogs" | "state_change">;
  startedAt: string;
  requests: number;
  entries: number;
  filtered: number;
}
