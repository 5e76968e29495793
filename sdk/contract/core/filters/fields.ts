import type { customFieldTypes } from "../../resources/fleet/custom-fields.ts";
import { deviceRoles, deviceStatuses, osTypes } from "../device-words.ts";
import { type FilterOperator, operatorSets } from "./operators.ts";

/** What a value of the field is compared as; the operators that it takes are those of `operatorSets`. */
export interface FilterField {
  readonly type: keyof typeof operatorSets;
  /** Of an enum: all values. */
  readonly values?: readonly string[];
  /** What it says of a device, for help and completion. */
  readonly about: string;
}

const text = (about: string): FilterField => ({ type: "string", about });
const number = (about: string): FilterField => ({ type: "number", about });
const moment = (about: string): FilterField => ({ type: "datetime", about });
const id = (about: string): FilterField => ({ type: "id", about });
const capability = (about: string): FilterField => ({ type: "capability", about });
const oneOf = (values: readonly string[], about: string): FilterField => ({ type: "enum", values, about });

/** Every field that a condition may name, beside `custom.<key>` (docs/filters.md, "Fields"). */
export const filterFields = {
  hostname: text("name in the network"),
  displayName: text("name that people gave it"),
  agentVersion: text("version of the agent"),
  lastUser: text("who was signed in last"),
  status: oneOf(deviceStatuses, "status of the device"),
  enrolledAt: moment("when it enrolled"),
  lastSeenAt: moment("when its agent was heard last"),
  quarantinedAt: moment("when it was cut off"),
  tags: { type: "array", about: "its tags" },
  deviceRole: oneOf(deviceRoles, "role of the device"),
  isHeadless: { type: "boolean", about: "nobody sits before it" },
  uptimeSeconds: number("seconds since it started"),
  watchdogStatus: oneOf(["connected", "failover", "offline"], "status of its watchdog"),
  "patches.pending": capability("a patch is pending"),
  "alerts.critical": capability("a critical alert is active"),
  "system.rebootRequired": capability("it waits for a restart"),
  osType: oneOf(osTypes, "operating system"),
  osVersion: text("version of the operating system"),
  osBuild: text("build of the operating system"),
  architecture: oneOf(["x64", "x86", "arm64"], "architecture of the processor"),
  "hardware.manufacturer": text("manufacturer"),
  "hardware.model": text("model"),
  "hardware.serialNumber": text("serial number"),
  "hardware.cpuModel": text("model of the processor"),
  "hardware.gpuModel": text("model of the graphics card"),
  "hardware.cpuCores": number("cores of the processor"),
  "hardware.ramTotalMb": number("memory in MB"),
  "hardware.diskTotalGb": number("size of all disks in GB"),
  "network.ipAddress": text("an address of any interface"),
  "network.publicIp": text("a public address of any interface"),
  "network.macAddress": text("a MAC address of any interface"),
  lastSeenIp: text("the address that its agent was heard from last"),
  "metrics.cpuPercent": number("processor use of the newest sample, 0 to 100"),
  "metrics.ramPercent": number("memory use of the newest sample, 0 to 100"),
  "metrics.diskPercent": number("disk use of the newest sample, 0 to 100"),
  "software.installed": { type: "installed", about: "titles of installed software" },
  "software.notInstalled": { type: "notInstalled", about: "no title of installed software" },
  orgId: id("organization"),
  siteId: id("site"),
  groupId: id("device group"),
  daysSinceLastSeen: number("days since its agent was heard last, with fractions"),
  daysSinceEnrolled: number("days since it enrolled, with fractions"),
} as const satisfies Record<string, FilterField>;

export type FilterFieldName = keyof typeof filterFields;

export const isFilterField = (name: string): name is FilterFieldName => Object.hasOwn(filterFields, name);

export const fieldNamed = (name: FilterFieldName): FilterField => filterFields[name];

/** The key of a custom field, which is named `custom.<key>`; its type is that of its definition, for each organization. */
export const customKeyOf = (name: string): string | undefined => /^custom\.([a-z][a-z0-9_]{0,99})$/.exec(name)?.[1];

export type CustomFieldType = (typeof customFieldTypes)[number];

/** What a custom field is compared as, by the type of its definition. */
export const typeOfCustom = {
  text: "string",
  dropdown: "string",
  number: "number",
  boolean: "boolean",
  date: "date",
} as const satisfies Record<CustomFieldType, FilterField["type"]>;

export const takesOperator = (type: FilterField["type"], operator: FilterOperator): boolean =>
  (operatorSets[type] as readonly FilterOperator[]).includes(operator);
