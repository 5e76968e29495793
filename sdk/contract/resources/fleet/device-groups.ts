import { z } from "zod";
import { staff } from "../../core/access.ts";
import { create, del, get, type Noun, patch, post, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, flag, idOf, instant, listedName, ref, searchText, success, text } from "../../core/fields.ts";
import { filterFaultCodes } from "../../core/filters/faults.ts";
import { givenFilter, shownFilter } from "../../core/filters/given-filter.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";
import { deviceStatuses, groupTypes, osTypes } from "./devices.ts";
import { FilterPreview } from "./saved-filters.ts";

export const addedBy = ["manual", "dynamic_rule", "policy"] as const;
export const membershipActions = ["added", "removed"] as const;
export const membershipReasons = ["manual", "filter_match", "filter_unmatch", "pinned", "unpinned"] as const;

/** A list of groups shows so many. */
export const GROUPS_SHOWN = 1_000;
/** Ids of members that one list of groups gives in all. */
export const MEMBERS_SHOWN = 50_000;

const fields = () => ({
  id: idOf("device-group"),
  orgId: idOf("organization"),
  orgName: listedName(),
  siteId: idOf("site").nullable().describe("null: of the whole organization"),
  name: z.string(),
  description: z.string().nullable(),
  type: z.enum(groupTypes),
  filterConditions: shownFilter().nullable().describe("of a dynamic group: what its devices match"),
  filterFieldsUsed: z.array(z.string()),
  parentId: idOf("device-group").nullable(),
  deviceCount: z.int(),
  createdAt: instant(),
  updatedAt: instant(),
});

const ListedGroup = shape("ListedDeviceGroup", () =>
  z.object({ ...fields(), deviceIds: z.array(idOf("device")).optional().describe("with includeMemberships") }),
);

/** Devices that are named together (docs/device-groups.md, "Groups"). */
export const DeviceGroupDetail = shape("DeviceGroupDetail", () =>
  z.object({
    ...fields(),
    lastEvaluatedAt: instant()
      .nullable()
      .describe("of a dynamic group: when all devices were last looked at; null: its devices are not all written yet"),
    lastEvaluationError: z.string().nullable().describe("why its devices are those of an earlier look"),
  }),
);

export const GroupMember = shape("GroupMember", () =>
  z.object({
    deviceId: idOf("device"),
    hostname: z.string(),
    displayName: z.string().nullable(),
    status: z.enum(deviceStatuses),
    osType: z.enum(osTypes),
    isPinned: z.boolean(),
    addedAt: instant(),
    addedBy: z.enum(addedBy),
  }),
);

export const MembershipEntry = shape("MembershipEntry", () =>
  z.object({
    id: z.string(),
    groupId: idOf("device-group"),
    deviceId: idOf("device").nullable().describe("null: it has left the organization"),
    hostname: z.string(),
    displayName: z.string().nullable(),
    action: z.enum(membershipActions),
    reason: z.enum(membershipReasons),
    createdAt: instant(),
  }),
);

/** 1 to 100, in a query; others are refused. */
const previewLimit = () =>
  z
    .string()
    .regex(/^([1-9]\d?|100)$/, "must be a whole number from 1 to 100")
    .transform(Number)
    .default(10)
    .meta({ published: { type: "integer", minimum: 1, maximum: 100, default: 10 } } satisfies FieldMeta);

const writable = () => ({
  siteId: ref("site").nullable().describe("site whose devices it has; null: all of the organization's"),
  name: text(255).meta({
    description: "unique in the organization, without case",
    example: "Tills",
  } satisfies FieldMeta),
  description: text(1000).nullable().describe("what it is for"),
  parentId: ref("device-group").nullable().describe("group that it is shown under; gives it no devices"),
  filterConditions: givenFilter().nullable(),
});

const filterRefusals = [
  "FILTER_REQUIRED",
  "FILTER_NOT_ALLOWED",
  ...filterFaultCodes,
  "GROUP_NOT_IN_ORG",
  "FILTER_TIMEOUT",
] as const;

const readers = staff().needs("devices:read");
const writers = staff().needs("devices:write");
const reached = ["NOT_FOUND", "SITE_ACCESS_DENIED"] as const;
const changed = [...reached, "ORG_READ_ONLY"] as const;

const about: Noun = {
  name: "device-groups",
  summary: "Groups of devices",
  thing: "device-group",
  kinds: { "device-group": { names: ["name"], example: "Tills" } },
  audits: [
    "device_group.create",
    "device_group.update",
    "device_group.delete",
    "device_group.device.add",
    "device_group.device.remove",
    "device_group.device.pin",
    "device_group.device.unpin",
  ],
};

export const deviceGroups = resource(about, {
  list: get("/groups", {
    summary: "List device groups, by name",
    description: `At most ${GROUPS_SHOWN}; \`total\` counts all.`,
    access: readers,
    errors: ["ORG_ACCESS_DENIED", "SITE_ACCESS_DENIED"],
    paging: { kind: "whole", items: "data" },
    columns: ["name", "type", "deviceCount", "orgName", "id"],
    query: () =>
      z
        .object({
          orgId: ref("organization").optional().describe("only those of this organization"),
          siteId: ref("site").optional().describe("only those of this site"),
          type: z.enum(groupTypes).optional().describe("only static or dynamic ones"),
          parentId: ref("device-group").optional().describe("only those right under this one"),
          search: searchText().optional().describe("part of the name"),
          includeMemberships: flag()
            .optional()
            .describe(`with ids of devices, at most ${MEMBERS_SHOWN} in all; needs orgId`),
        })
        .refine(({ orgId, includeMemberships }) => !includeMemberships || orgId !== undefined, {
          path: ["orgId"],
          message: "orgId: includeMemberships needs it",
        }),
    returns: () => z.object({ data: z.array(ListedGroup()), total: z.int() }),
  }),
  create: create("/groups", {
    summary: "Create a device group",
    access: writers,
    audit: "device_group.create",
    mayEmit: ["group.membership_changed"],
    errors: [
      "ORG_ID_REQUIRED",
      "ORG_CONTEXT_REQUIRED",
      "ORG_ACCESS_DENIED",
      "SITE_ACCESS_DENIED",
      "SITE_NOT_IN_ORG",
      "ORG_READ_ONLY",
      "NAME_TAKEN",
      "LIMIT_REACHED",
      "INVALID_PARENT",
      "DEVICE_NOT_IN_ORG",
      "DYNAMIC_GROUP",
      ...filterRefusals,
    ],
    body: () =>
      z.object({
        orgId: ref("organization").optional().describe("organization whose devices it has; default: your own"),
        ...writable(),
        siteId: writable().siteId.default(null),
        description: writable().description.default(null),
        parentId: writable().parentId.default(null),
        type: z.enum(groupTypes).default("static").describe("whether people or conditions choose; cannot change"),
        filterConditions: writable().filterConditions.default(null),
        deviceIds: z.array(ref("device")).max(500).default([]).describe("devices of a static group, from the start"),
      }),
    returns: DeviceGroupDetail,
  }),
  get: get("/groups/:id", {
    summary: "Show a device group",
    access: readers,
    errors: reached,
    returns: DeviceGroupDetail,
  }),
  update: patch("/groups/:id", {
    summary: "Change a device group; with another site, devices of other sites leave it",
    access: writers,
    audit: "device_group.update",
    mayEmit: ["group.membership_changed"],
    errors: [
      ...changed,
      "NO_UPDATES",
      "SITE_NOT_IN_ORG",
      "NAME_TAKEN",
      "INVALID_PARENT",
      "CONCURRENT_MODIFICATION",
      ...filterRefusals,
    ],
    body: () => z.object(writable()).partial(),
    returns: DeviceGroupDetail,
  }),
  remove: del("/groups/:id", {
    summary: "Delete a device group with its memberships and their log",
    access: writers,
    audit: "device_group.delete",
    errors: [...changed, "HAS_CHILDREN", "IN_USE"],
    returns: success,
  }),
  devices: get("/groups/:id/devices", {
    summary: "List the devices of a group, the latest to join first",
    access: readers,
    errors: reached,
    paging: paged,
    columns: ["hostname", "displayName", "status", "osType", "isPinned", "addedAt", "deviceId"],
    query: () => z.object(pageQuery()),
    returns: () => pageOf(GroupMember()),
  }),
  addDevices: create("/groups/:id/devices", {
    summary: "Add devices to a static group: all of them, or none",
    access: writers,
    audit: "device_group.device.add",
    mayEmit: ["group.membership_changed"],
    errors: [...changed, "DYNAMIC_GROUP", "DEVICE_NOT_IN_ORG"],
    body: () => z.object({ deviceIds: z.array(ref("device")).min(1).max(500).describe("devices to add") }),
    returns: () =>
      z.object({
        added: z.int(),
        skipped: z.int().describe("devices that it had"),
        total: z.int().describe("devices that it has now"),
      }),
  }),
  removeDevice: del("/groups/:id/devices/:deviceId", {
    summary: "Take a device out of a static group",
    access: writers,
    refs: { deviceId: "device" },
    audit: "device_group.device.remove",
    emits: ["group.membership_changed"],
    errors: [...changed, "DYNAMIC_GROUP"],
    returns: success,
  }),
  preview: post("/groups/:id/preview", {
    summary: "Show which devices match a dynamic group's filter, or another one that it might get",
    description: "By hostname. Ends after five seconds in the database; two of a person run at a time, sixty a minute.",
    access: readers,
    audit: { none: "looks at devices and changes nothing" },
    loses: "nothing",
    errors: [...reached, "NOT_DYNAMIC", ...filterFaultCodes, "FILTER_TIMEOUT"],
    query: () => z.object({ limit: previewLimit().describe("devices to show, the others are counted") }),
    bodyOptional: true,
    body: () => z.object({ filterConditions: givenFilter().optional() }),
    returns: FilterPreview,
  }),
  pin: create("/groups/:id/devices/:deviceId/pin", {
    summary: "Keep a device in a dynamic group, whether it matches or not",
    access: writers,
    refs: { deviceId: "device" },
    audit: "device_group.device.pin",
    mayEmit: ["group.membership_changed"],
    errors: [...changed, "NOT_DYNAMIC"],
    returns: () => z.object({ groupId: idOf("device-group"), deviceId: idOf("device"), isPinned: z.literal(true) }),
  }),
  unpin: del("/groups/:id/devices/:deviceId/pin", {
    summary: "Let a device leave a dynamic group again: at once, if it does not match",
    access: writers,
    refs: { deviceId: "device" },
    audit: "device_group.device.unpin",
    mayEmit: ["group.membership_changed"],
    errors: [...changed, "NOT_DYNAMIC", "NOT_PINNED", "FILTER_TIMEOUT"],
    returns: () =>
      z.object({
        groupId: idOf("device-group"),
        deviceId: idOf("device"),
        isPinned: z.literal(false),
        removed: z.boolean(),
      }),
  }),
  log: get("/groups/:id/membership-log", {
    summary: "List who joined and left a group, newest first",
    description: "Entries are kept 90 days.",
    access: readers,
    errors: reached,
    paging: paged,
    columns: ["createdAt", "action", "reason", "hostname", "displayName", "deviceId"],
    query: () =>
      z.object({
        ...pageQuery(),
        deviceId: ref("device").optional().describe("only entries of this device"),
        action: z.enum(membershipActions).optional().describe("only those who joined, or who left"),
      }),
    returns: () => pageOf(MembershipEntry()),
  }),
});
