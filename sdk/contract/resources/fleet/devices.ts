import { z } from "zod";
import { staff } from "../../core/access.ts";
import { deviceRoles, deviceStatuses, osTypes } from "../../core/device-words.ts";
import { create, del, get, type Noun, patch, post, resource, shape } from "../../core/endpoint.ts";
import {
  type FieldMeta,
  flag,
  idOf,
  instant,
  link,
  ref,
  refList,
  searchText,
  secret,
  storableText,
  success,
  text,
  timestamp,
} from "../../core/fields.ts";
import { filterFaultCodes } from "../../core/filters/faults.ts";
import { givenFilter } from "../../core/filters/given-filter.ts";
import { pageOf } from "../../core/page.ts";

export { deviceRoles, deviceStatuses, osTypes };
/** Of groups of devices, which a device tells of. */
export const groupTypes = ["static", "dynamic"] as const;

/** A managed machine (docs/fleet.md, "Devices"). */
export const Device = shape("Device", () =>
  z.object({
    id: idOf("device"),
    orgId: idOf("organization"),
    siteId: idOf("site").nullable(),
    agentId: z.string().nullable(),
    hostname: z.string(),
    displayName: z.string().nullable(),
    osType: z.enum(osTypes),
    osVersion: z.string(),
    osBuild: z.string().nullable(),
    architecture: z.string(),
    agentVersion: z.string(),
    deviceRole: z.enum(deviceRoles),
    deviceRoleSource: z.enum(["auto", "manual"]),
    isVirtual: z.boolean(),
    status: z.enum(deviceStatuses),
    lastSeenAt: instant().nullable(),
    lastSeenIp: z.string().nullable(),
    enrolledAt: instant().nullable(),
    tags: z.array(z.string()),
    customFields: z.record(z.string(), z.unknown()),
    lastUser: z.string().nullable(),
    uptimeSeconds: z.int().nullable(),
    isHeadless: z.boolean(),
    pendingReboot: z.boolean(),
    watchdogStatus: z.enum(["connected", "failover", "offline"]).nullable(),
    watchdogVersion: z.string().nullable(),
    mainAgentSilentSince: instant().nullable(),
    quarantinedAt: instant().nullable(),
    quarantinedReason: z.string().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

/** Hardware facts that the agent reports (docs/fleet.md, "Inventory"); unknown facts are null. */
export const Hardware = shape("Hardware", () =>
  z.object({
    manufacturer: z.string().nullable(),
    model: z.string().nullable(),
    serialNumber: z.string().nullable(),
    cpuModel: z.string().nullable(),
    cpuCores: z.number().nullable(),
    cpuThreads: z.number().nullable(),
    ramTotalMb: z.number().nullable(),
    diskTotalGb: z.number().nullable(),
    gpuModel: z.string().nullable(),
    biosVersion: z.string().nullable(),
  }),
);

const MetricSample = shape("MetricSample", () =>
  z.object({
    cpuPercent: z.number(),
    ramPercent: z.number(),
    diskPercent: z.number(),
    timestamp: instant(),
  }),
);

const placed = () => ({
  orgName: z.string(),
  siteName: z.string().nullable(),
  wanIp: z.string().nullable(),
  lanIp: z.string().nullable(),
  metrics: MetricSample().nullable(),
});

/** A device in a list. */
export const DeviceListItem = shape("DeviceListItem", () =>
  z.object({
    ...Device().shape,
    ...placed(),
    hardware: Hardware().pick({ cpuModel: true, cpuCores: true, ramTotalMb: true, diskTotalGb: true }).nullable(),
    pendingCommandCount: z.int().optional().describe("commands that its agent has not collected, where asked for"),
  }),
);

/** A device with everything known about it. */
export const DeviceDetail = shape("DeviceDetail", () =>
  z.object({
    ...Device().shape,
    ...placed(),
    hardware: Hardware().nullable(),
    disks: z.array(
      z.object({
        mountPoint: z.string(),
        fsType: z.string().nullable(),
        totalGb: z.number().nullable(),
        usedGb: z.number().nullable(),
        freeGb: z.number().nullable(),
        usedPercent: z.number().nullable(),
      }),
    ),
    networkInterfaces: z.array(
      z.object({
        interfaceName: z.string(),
        macAddress: z.string().nullable(),
        ipAddress: z.string().nullable(),
        subnetMask: z.string().nullable(),
        publicIp: z.string().nullable(),
        isPrimary: z.boolean(),
      }),
    ),
    groups: z.array(
      z.object({
        groupId: idOf("device-group"),
        name: z.string(),
        type: z.enum(groupTypes),
        isPinned: z.boolean(),
      }),
    ),
    recentMetrics: z.array(MetricSample()).describe("the last 24 hours, at most 288"),
    siteTimezone: z.string().nullable(),
    pendingCommandCount: z.int().describe("commands that its agent has not collected"),
  }),
);

/** A device that is awaited, and what its machine enrolls with. */
export const ProvisionedDevice = shape("ProvisionedDevice", () =>
  z.object({
    device: Device(),
    enrollment: z.object({
      enrollmentKey: secret(),
      enrollmentSecret: secret(),
      serverUrl: link().describe("where the agent enrolls"),
      expiresAt: instant(),
      singleUse: z.literal(true),
    }),
  }),
);

/** Kept as sent: its presence chooses the mode, its default depends on it. Read it with `lenientInt`. */
const rawInt = (description: string) =>
  z
    .string()
    .optional()
    .meta({ published: { type: "integer" }, description } satisfies FieldMeta);

const about: Noun = {
  name: "devices",
  summary: "Managed machines",
  thing: "device",
  kinds: { device: { names: ["hostname", "displayName"], example: "reception-pc", searched: true } },
  audits: ["device.create", "device.update", "device.move_org.source", "device.move_org.target", "device.delete"],
};

export const devices = resource(about, {
  list: get("/devices", {
    summary: "List devices",
    description:
      "Without `page` and with any of `cursor` (may be empty), `sort`, `sortDir`, `includeTotal` the answer comes by cursor; otherwise by page.",
    access: staff().needs("devices:read"),
    errors: ["ORG_ACCESS_DENIED", "SITE_ACCESS_DENIED", "INVALID_CURSOR"],
    paging: { kind: "cursor", items: "devices" },
    columns: ["hostname", "status", "osType", "orgName", "siteName", "lastSeenAt", "id"],
    query: () =>
      z.object({
        page: rawInt("chooses paging by number"),
        limit: rawInt("default 50; at most 1000 by cursor, 100 by page"),
        cursor: z.string().max(4096).optional().describe("empty for the first page"),
        sort: z.enum(["hostname", "lastSeen", "enrolled"]).optional().describe("field that orders the list"),
        sortDir: z.enum(["asc", "desc"]).optional().describe("direction of the order"),
        includeTotal: flag().optional().describe("include the number of matches"),
        orgId: ref("organization").optional().describe("only those of this organization"),
        siteId: ref("site").optional().describe("only those at this site"),
        orgIds: refList("organization").optional().describe("only those of these organizations, with commas"),
        siteIds: refList("site").optional().describe("only those at these sites, with commas"),
        groupIds: refList("device-group").optional().describe("only devices of one of these groups, with commas"),
        status: z.enum(deviceStatuses).optional().describe("only those in this status"),
        osType: z.enum(osTypes).optional().describe("only those with this operating system"),
        role: z.enum(deviceRoles).optional().describe("only those with this role"),
        search: searchText().optional().describe("part of hostname or display name"),
        includeDecommissioned: flag().optional().describe("include decommissioned devices"),
        includePending: flag().optional().describe("include how many commands each has not collected"),
      }),
    returns: () =>
      z.union([
        z.object({
          devices: z.array(DeviceListItem()),
          nextCursor: z.string().nullable(),
          limit: z.int(),
          total: z.int().optional(),
        }),
        pageOf(DeviceListItem()),
      ]),
  }),
  query: post("/devices/query", {
    summary: "List the devices of a filter, by hostname",
    description:
      "Answers like a list by cursor. Ends after five seconds in the database; at most two of a person run at a time, and sixty a minute.",
    access: staff().needs("devices:read"),
    own: "what `--where` of the command lists: every device of a filter, page by page",
    audit: { none: "reads devices as their list does; the filter is too long for an address" },
    loses: "nothing",
    errors: [...filterFaultCodes, "FILTER_TIMEOUT", "ORG_ACCESS_DENIED", "INVALID_CURSOR"],
    body: () =>
      z.object({
        conditions: givenFilter(),
        orgId: ref("organization").optional().describe("only devices of this organization"),
        cursor: storableText(4096).optional().describe("`nextCursor` of the page before"),
        limit: z.int().min(1).max(500).default(50).describe("devices of a page"),
        includePending: z.boolean().optional().describe("include how many commands each has not collected"),
        includeTotal: z.boolean().optional().describe("include how many devices match in all"),
      }),
    returns: () =>
      z.object({
        devices: z.array(DeviceListItem()),
        nextCursor: z.string().nullable(),
        limit: z.int(),
        total: z.int().optional(),
      }),
  }),
  provision: create("/devices/provision", {
    summary: "Add a device before its agent enrolls, with a key that is for it alone",
    description:
      "The key works once within 24 hours and is shown this once. Asked again while the device is `pending`, the old key is void and the answer is 200 with a new one.",
    access: staff().needs("devices:write").withMfa(),
    audit: "device.create",
    foundStatus: 200,
    errors: [
      "ORG_ID_REQUIRED",
      "ORG_CONTEXT_REQUIRED",
      "ORG_ACCESS_DENIED",
      "SITE_ACCESS_DENIED",
      "SITE_NOT_IN_ORG",
      "HOSTNAME_TAKEN",
      "DEVICE_LIMIT_REACHED",
      "ORG_READ_ONLY",
      "ORG_SUSPENDED",
    ],
    body: () =>
      z.object({
        orgId: ref("organization").optional().describe("required in partner and system scope"),
        siteId: ref("site").describe("site that it will be at"),
        hostname: text(255).meta({
          description: "hostname that the machine will report",
          example: "reception-pc",
        } satisfies FieldMeta),
        osType: z.enum(osTypes).describe("operating system"),
        displayName: text(255).nullable().optional().describe("name that people gave it"),
        deviceRole: z.enum(deviceRoles).optional().describe("role of the device"),
        tags: z.array(text(50)).max(100).optional().describe("labels, each once"),
      }),
    returns: ProvisionedDevice,
  }),
  get: get("/devices/:id", {
    summary: "Show a device with hardware, network and recent metrics",
    access: staff().needs("devices:read"),
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED"],
    returns: DeviceDetail,
  }),
  update: patch("/devices/:id", {
    summary: "Change a device's name, site, tags or role, or put it into maintenance or quarantine",
    description:
      "`siteId` and `quarantined` need a second factor; `quarantined: true` also `devices:execute`, `false` also `devices:delete`. Maintenance lasts 8 hours unless `maintenanceUntil` says otherwise, at most 7 days.",
    access: staff().needs("devices:write"),
    audit: "device.update",
    mayEmit: [
      "device.updated",
      "device.online",
      "device.offline",
      "device.command.failed",
      "elevation.expired",
      "elevation.revoked",
    ],
    errors: [
      "NOT_FOUND",
      "SITE_ACCESS_DENIED",
      "SITE_NOT_IN_ORG",
      "ALREADY_DECOMMISSIONED",
      "INVALID_STATE",
      "MFA_REQUIRED",
      "CONCURRENT_MODIFICATION",
    ],
    body: () =>
      z
        .object({
          displayName: text(255).nullable().describe("name that people gave it"),
          siteId: ref("site").describe("site to move it to"),
          tags: z.array(text(50)).max(100).describe("labels, each once; replaces the list"),
          deviceRole: z.enum(deviceRoles).describe("role of the device"),
          maintenance: z.boolean().describe("whether it is being worked on"),
          maintenanceUntil: timestamp().describe("end of the maintenance"),
          quarantined: z.boolean().describe("whether it is cut off"),
          quarantinedReason: text(255).describe("why it is cut off"),
        })
        .partial(),
    returns: Device,
  }),
  moveOrg: post("/devices/:id/move-org", {
    summary: "Move a device to another organization of the same partner",
    description:
      "What describes the machine goes along, its agent keeps its tokens. What happened stays behind without the device, open commands end.",
    access: staff("partner", "system").needs("devices:write", "organizations:write").withMfa(),
    audit: "device.move_org.source",
    loses: "row",
    emits: ["device.moved"],
    mayEmit: ["device.command.failed", "elevation.expired", "elevation.revoked"],
    errors: [
      "NOT_FOUND",
      "ORG_ACCESS_DENIED",
      "SAME_ORG",
      "CROSS_PARTNER_MOVE",
      "SITE_NOT_IN_ORG",
      "ORG_READ_ONLY",
      "DEVICE_LIMIT_REACHED",
      "ALREADY_DECOMMISSIONED",
      "CONCURRENT_MODIFICATION",
    ],
    body: () =>
      z.object({
        orgId: ref("organization").describe("organization to move it to"),
        siteId: ref("site").describe("site of that organization"),
      }),
    returns: () => z.object({ success: z.literal(true), device: Device() }),
  }),
  remove: del("/devices/:id", {
    summary: "Take a device out of service",
    description: "Its row and history stay. With `uninstall` its agent is told to remove itself.",
    access: staff().needs("devices:delete").withMfa(),
    audit: "device.delete",
    emits: ["device.decommissioned"],
    mayEmit: ["device.command.failed", "elevation.expired", "elevation.revoked"],
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "ALREADY_DECOMMISSIONED", "CONCURRENT_MODIFICATION"],
    query: () => z.object({ uninstall: flag().optional().describe("leave it one command: to remove its agent") }),
    returns: success,
  }),
});
