import type { AuditAction } from "#contract/core/generated/audit-actions";
import type { ToolName } from "#contract/core/tools";
import type { Call } from "#server/http/call";

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
    action: `mcp.tool.${name}` as AuditAction,
    ...(deviceId !== undefined && { resource: { type: "device", id: deviceId, name: device?.hostname ?? null } }),
    siteIds: [device?.siteId ?? null],
    details: { tool: name, targets, actionDigest, riskTier },
  });
}

export const noteFailure = (call: Call, errorCode: string): void =>
  call.audit.note({ result: "failure", details: { errorCode } });
