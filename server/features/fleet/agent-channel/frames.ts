import { z } from "zod";
import { ref } from "#contract/core/fields";
import { invalid } from "#server/problem";

/** What the server sends (docs/agents.md, "Frames"). */
export type Outgoing = { readonly type: OutgoingType } & Readonly<Record<string, unknown>>;
type OutgoingType = "connected" | "command" | "ping" | "ack" | "heartbeat_ack" | "error";

/** What an agent sends; the rest of a frame is judged by the endpoint that takes the same over HTTP. */
export type Incoming =
  | { readonly type: "heartbeat"; readonly body: object }
  | { readonly type: "command_result"; readonly commandId: string; readonly body: object }
  | { readonly type: "command_progress"; readonly commandId: string }
  | { readonly type: "pong" };

const aboutCommand = z.looseObject({ commandId: ref("device-command") });

/** Rejects with what is wrong; the connection stays open. */
export function incoming(value: unknown): Incoming {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw invalid({ path: "", message: "A frame is a JSON object" });
  const { type, ...body } = value as Record<string, unknown>;
  if (type === "pong") return { type };
  if (type === "heartbeat") return { type, body };
  if (type === "command_result" || type === "command_progress") {
    const { commandId, ...rest } = withCommand(body);
    return type === "command_result" ? { type, commandId, body: rest } : { type, commandId };
  }
  throw invalid({ path: "type", message: "type: no frame of that type is taken" });
}

function withCommand(body: Record<string, unknown>) {
  const read = aboutCommand.safeParse(body);
  if (!read.success) throw invalid({ path: "commandId", message: "commandId: must be the id of a command" });
  return read.data;
}
