import type { AuditAction } from "#contract/core/generated/audit-actions";
import type { ToolName } from "#contract/core/tools";
import type { Call } from "#server/http/call";

/** What the entry of each tool is called. */
const actions = {
  list_devices: "mcp.tool.list_devices",
  get_device: "mcp.tool.get_device",
  find_devices: "mcp.tool.find_devices",
  get_device_metrics: "mcp.tool.get_device_metrics",
  get_device_software: "mcp.tool.get_device_software",
  get_device_custom_fields: "mcp.tool.get_device_custom_fields",
  set_device_custom_fields: "mcp.tool.set_device_custom_fields",
  search: "mcp.tool.search",
  list_sites: "mcp.tool.list_sites",
  send_device_command: "mcp.tool.send_device_command",
  list_pending_patches: "mcp.tool.list_pending_patches",
  get_tool_execution: "mcp.tool.get_tool_execution",
} as const satisfies Record<ToolName, AuditAction>;

export interface NotedCall {
  readonly name: ToolName;
  readonly targets: readonly string[];
  readonly actionDigest: string;
  readonly riskTier: number;
}

/**
 * What the entry of a call says: tool, targets and digest, never a value that it was called with (docs/mcp.md, "What is
 * recorded"). Targets are looked up as the key sees them.
 */
export async function noteCall(call: Call, { name, targets, actionDigest, riskTier }: NotedCall): Promise<void> {
  const [deviceId] = targets;
  const device =
    deviceId === undefined
      ? undefined
      : await call.db
          .selectFrom("devices")
          .select(["id", "hostname", "siteId"])
          .where("id", "=", deviceId)
          .executeTakeFirst();
  call.audit.note({
    action: actions[name],
    ...(deviceId !== undefined && { resource: { type: "device", id: deviceId, name: device?.hostname ?? null } }),
    // A device that is not found cannot be placed: nobody confined to sites reads of it.
    ...((deviceId === undefined || device) && { siteIds: [device?.siteId ?? null] }),
    details: { tool: name, targets, actionDigest, riskTier },
  });
}

export const noteFailure = (call: Call, errorCode: string): void =>
  call.audit.note({ result: "failure", details: { errorCode } });
