import { z } from "zod";
import { apiKey } from "../../core/access.ts";
import { type Noun, post, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, storableText } from "../../core/fields.ts";
import { toolNames } from "../../core/tools.ts";

export const RPC_BYTES_MAX = 64 * 1024;

const about: Noun = {
  name: "mcp-tools",
  summary: "Tools that language models call with a key of an organization",
  audits: [...toolNames.map((name) => `mcp.tool.${name}`)],
};

/** A number, or a text; a message without one is not answered. */
const messageId = () => z.union([storableText(255), z.number()]);

/** One message of JSON-RPC 2.0 in the Model Context Protocol (docs/mcp.md, "Messages"). */
const RpcMessage = shape("RpcMessage", () =>
  z
    .object({
      jsonrpc: z.literal("2.0").describe("version of the protocol"),
      id: messageId().optional().describe("names the answer; only a notification has none"),
      method: storableText(100).meta({
        description: "initialize, ping, tools/list, tools/call, or notifications/…",
        example: "tools/list",
      } satisfies FieldMeta),
      params: z
        .record(z.string(), z.unknown())
        .optional()
        .meta({ description: "what the method takes", example: { name: "list_sites" } } satisfies FieldMeta),
    })
    .refine(({ id, method }) => (id === undefined) === method.startsWith("notifications/"), {
      path: ["id"],
      message: "id: a message has one, a notification none",
    }),
);

/** Result or error of the message with this id. */
const RpcAnswer = shape("RpcAnswer", () =>
  z.object({
    jsonrpc: z.literal("2.0"),
    id: messageId(),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  }),
);

export const mcpTools = resource(about, {
  send: post("/mcp", {
    summary: "Send a message of the Model Context Protocol",
    description:
      "Risky calls wait for a person: such an answer says pending, and get_tool_execution what became of it.",
    access: apiKey(),
    audit: { none: "every call of a tool leaves the entry of that tool" },
    mayEmit: ["device.updated", "elevation.requested", "elevation.auto_approved", "elevation.denied"],
    loses: "nothing",
    transport: "json-rpc",
    alsoBelow: true,
    idempotent: true,
    otherStatuses: [202],
    bodyLimitBytes: RPC_BYTES_MAX,
    body: RpcMessage,
    returns: RpcAnswer,
  }),
});
