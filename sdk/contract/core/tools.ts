import { z } from "zod";
import { deviceStatuses, osTypes } from "./device-words.ts";
import { id, ref } from "./fields.ts";
import { givenFilter } from "./filters/given-filter.ts";
import type { ApiKeyScope } from "./key-scopes.ts";

/** States of what a key asked of a tool (docs/mcp.md, "Approval"). */
export const toolExecutionStatuses = [
  "pending",
  "approved",
  "executing",
  "completed",
  "failed",
  "rejected",
  "expired",
] as const;

/** Commands that a key may send through a tool. */
export const toolCommandTypes = ["refresh_inventory", "collect_logs", "reboot"] as const;

export interface ToolDefinition {
  readonly description: string;
  /** What a key must hold to see and call it; null: nothing. */
  readonly scope: ApiKeyScope | null;
  /** It reads alone. */
  readonly reads: boolean;
  /** It may stop work that runs on a device. */
  readonly disrupts: boolean;
  readonly input: () => z.ZodType<Record<string, unknown>>;
}

const LIST_MAX = 100;
const SEARCH_MAX = 50;

const device = () => ref("device").describe("id of the device");
const limit = (max: number, usual: number) => z.int().min(1).max(max).default(usual).describe("entries at most");
const part = (description: string) => z.string().trim().min(1).max(100).describe(description);
const value = () => z.union([z.string().max(10_000), z.number(), z.boolean()]).nullable();

const reading = { reads: true, disrupts: false } as const;
const writing = { reads: false, disrupts: false } as const;

/** Every tool that a key can call, with what it takes (docs/mcp.md, "Tools"). */
export const tools = {
  list_devices: {
    ...reading,
    description: "List devices of the organization, those seen last first",
    scope: "devices:read",
    input: () =>
      z.strictObject({
        status: z.enum(deviceStatuses).optional().describe("only those in this status"),
        osType: z.enum(osTypes).optional().describe("only those with this operating system"),
        siteId: ref("site").optional().describe("only those at this site"),
        search: part("part of hostname or display name").optional(),
        page: z.int().min(1).max(1_000_000).default(1).describe("page of the list, from 1"),
        limit: limit(LIST_MAX, 50),
      }),
  },
  get_device: {
    ...reading,
    description: "Show one device: system, site, hardware, disks, network, groups and its newest sample",
    scope: "devices:read",
    input: () => z.strictObject({ deviceId: device() }),
  },
  find_devices: {
    ...reading,
    description: "Count the devices that satisfy conditions, and show the first by hostname",
    scope: "devices:read",
    input: () =>
      z.strictObject({ conditions: givenFilter().describe("group of conditions"), limit: limit(LIST_MAX, 50) }),
  },
  get_device_metrics: {
    ...reading,
    description: "Show how busy a device was, as means over equal stretches of time, the oldest first",
    scope: "devices:read",
    input: () =>
      z.strictObject({
        deviceId: device(),
        metric: z.enum(["cpu", "ram", "disk"]).describe("what was measured, in percent"),
        hours: z.int().min(1).max(168).describe("how far back"),
      }),
  },
  get_device_software: {
    ...reading,
    description: "List what is installed on a device, by name",
    scope: "devices:read",
    input: () => z.strictObject({ deviceId: device(), search: part("part of name or vendor").optional() }),
  },
  get_device_custom_fields: {
    ...reading,
    description: "Show the custom values of a device",
    scope: "devices:read",
    input: () => z.strictObject({ deviceId: device() }),
  },
  set_device_custom_fields: {
    ...writing,
    description: "Set custom values of a device; null deletes one",
    scope: "devices:write",
    input: () =>
      z.strictObject({
        deviceId: device(),
        values: z
          .record(z.string().min(1).max(100), value())
          .refine((values) => Object.keys(values).length > 0, "must have at least one field")
          .describe("values by the key of their field"),
      }),
  },
  search: {
    ...reading,
    description: "Find devices by a part of hostname, display name or last user",
    scope: "devices:read",
    input: () => z.strictObject({ q: part("what the name contains, without case"), limit: limit(SEARCH_MAX, 20) }),
  },
  list_sites: {
    ...reading,
    description: "List the sites of the organization, the oldest first",
    scope: "sites:read",
    input: () => z.strictObject({}),
  },
  send_device_command: {
    ...writing,
    disrupts: true,
    description: "Send a device a command: report its inventory again, send its logs, or restart",
    scope: "devices:execute",
    input: () => z.strictObject({ deviceId: device(), type: z.enum(toolCommandTypes).describe("what it is to do") }),
  },
  list_pending_patches: {
    ...reading,
    description: "List patches that wait on the devices of the organization, or on one, the most severe first",
    scope: "devices:read",
    input: () => z.strictObject({ deviceId: device().optional() }),
  },
  get_tool_execution: {
    ...reading,
    description: "Show what became of a call of a tool that had to be approved",
    scope: null,
    input: () => z.strictObject({ toolExecutionId: id().describe("id that the call answered") }),
  },
} as const satisfies Record<string, ToolDefinition>;

export type ToolName = keyof typeof tools;
export const toolNames = Object.keys(tools) as ToolName[];
export const isToolName = (name: string): name is ToolName => Object.hasOwn(tools, name);
export type ToolInput<N extends ToolName> = z.output<ReturnType<(typeof tools)[N]["input"]>>;
