import { mcpTools } from "#contract/resources/integrations/mcp-tools";
import { implement } from "#server/http/implement";
import { sendMessage } from "./send.ts";

export const routes = implement(mcpTools, { send: sendMessage });
