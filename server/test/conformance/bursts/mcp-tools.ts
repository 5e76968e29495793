import { toolCall } from "#fixtures/nouns/integrations/mcp-tools";
import { pendingLimit } from "#server/features/access-control/tool-executions/rules";
import { caseOf } from "../cases.ts";
import type { Burst } from "./burst.ts";

export const toolBursts: readonly Burst[] = [
  {
    limit: pendingLimit.name,
    noun: "mcp-tools",
    left: pendingLimit.max,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token } = await swept.caller("partner", tenant);
      const { orgId, deviceId } = tenant;
      const made = async (path: string, body: object) =>
        (await swept.request("POST", path, { token, body: { orgId, name: "burst", ...body } })).body;
      const { key } = await made("/api-keys", { scopes: ["devices:write"] });
      await made("/pam/rules", { matchToolName: "set_device_custom_fields", verdict: "require_approval" });
      const item = caseOf("mcpTools.send");
      const headers = { "x-api-key": key };
      return (number) => {
        const body = toolCall("set_device_custom_fields", { deviceId, values: { field: number } }, number);
        return { item, options: { tenant, headers, body } };
      };
    },
  },
];
