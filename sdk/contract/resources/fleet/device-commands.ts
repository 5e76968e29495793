import { z } from "zod";
import { staff } from "../../core/access.ts";
import { userCommandTypes } from "../../core/command-types.ts";
import { create, get, type Noun, post, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, idOf, instant, ref } from "../../core/fields.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";

export const commandStatuses = ["pending", "sent", "completed", "failed", "timeout", "cancelled"] as const;

/** How a command ended (docs/fleet.md, "Results of commands"). */
const CommandResult = shape("CommandResult", () =>
  z.object({
    status: z.string(),
    exitCode: z.number().nullable().optional(),
    stdout: z.string().optional(),
    stderr: z.string().optional(),
    error: z.string().optional(),
    errorCode: z.string().optional(),
    durationMs: z.number().optional(),
    startedAt: instant().optional(),
    truncated: z.boolean().optional().describe("an output was longer than is kept"),
    data: z.unknown().optional(),
    reason: z.string().optional().describe("why the server ended it"),
    timedOutBy: z.string().optional(),
  }),
);

/** Something that an agent is told to do (docs/fleet.md, "Commands"). */
export const Command = shape("Command", () =>
  z.object({
    id: idOf("device-command"),
    deviceId: idOf("device").nullable().describe("null: the device has left the organization"),
    orgId: idOf("organization"),
    type: z.string(),
    payload: z.record(z.string(), z.unknown()).nullable().describe("null: shown where its feature is"),
    status: z.enum(commandStatuses),
    targetRole: z.enum(["agent", "watchdog"]),
    origin: z.object({ kind: z.string(), id: z.string() }).nullable(),
    createdBy: z.string().nullable(),
    queuedAt: instant(),
    sentAt: instant().nullable(),
    completedAt: instant().nullable(),
    expiresAt: instant(),
    result: CommandResult().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

const about: Noun = {
  name: "device-commands",
  summary: "What devices are told to do",
  thing: "device",
  kinds: { "device-command": {} },
  audits: ["device.command.queue", "device.command.cancel"],
};

const typeName = () => z.string().regex(/^\w{1,50}$/, "must be the name of a type");

const queued = () => ({
  type: typeName().meta({
    description: `one of ${userCommandTypes.join(", ")}`,
    example: "reboot",
  } satisfies FieldMeta),
  payload: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: "what the type takes", example: { delayMinutes: 5 } } satisfies FieldMeta),
});

/** Why a device got no command; the others of the same call did. */
export const failedCodes = [
  "NOT_FOUND",
  "SITE_ACCESS_DENIED",
  "DEVICE_DECOMMISSIONED",
  "ORG_READ_ONLY",
  "ORG_SUSPENDED",
  "INVALID_STATE",
  "UNSUPPORTED_OS",
  "VALIDATION_ERROR",
  "NO_MAC",
  "NO_RELAY",
] as const;

export const deviceCommands = resource(about, {
  queueMany: create("/devices/bulk/commands", {
    summary: "Send a command to many devices",
    description: "Devices that cannot take it are listed with the reason; the others get it.",
    access: staff().needs("devices:execute").withMfa(),
    audit: "device.command.queue",
    errors: ["USE_SCRIPT_ENDPOINT", "COMMAND_TYPE_NOT_ALLOWED"],
    body: () =>
      z.object({ deviceIds: z.array(ref("device")).min(1).max(500).describe("devices that get it"), ...queued() }),
    returns: () =>
      z.object({
        commands: z.array(Command()),
        skipped: z.array(
          z.object({ deviceId: idOf("device"), code: z.literal("ALREADY_PENDING"), commandId: idOf("device-command") }),
        ),
        failed: z.array(z.object({ deviceId: idOf("device"), code: z.enum(failedCodes), message: z.string() })),
      }),
  }),
  queue: create("/devices/:id/commands", {
    summary: "Send a device a command",
    description: "Delivered at once to a connected agent, else when it next reports.",
    access: staff().needs("devices:execute").withMfa(),
    audit: "device.command.queue",
    errors: [
      "NOT_FOUND",
      "SITE_ACCESS_DENIED",
      "USE_SCRIPT_ENDPOINT",
      "COMMAND_TYPE_NOT_ALLOWED",
      "INVALID_STATE",
      "UNSUPPORTED_OS",
      "DEVICE_DECOMMISSIONED",
      "ORG_SUSPENDED",
      "ALREADY_PENDING",
      "NO_MAC",
      "NO_RELAY",
    ],
    body: () => z.object(queued()),
    returns: Command,
  }),
  list: get("/devices/:id/commands", {
    summary: "List a device's commands",
    access: staff().needs("devices:read"),
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED"],
    paging: paged,
    columns: ["type", "status", "queuedAt", "sentAt", "completedAt", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        status: z.enum(commandStatuses).optional().describe("only those in this status"),
        type: typeName().optional().describe("only those of this type"),
      }),
    returns: () => pageOf(Command()),
  }),
  get: get("/devices/:id/commands/:commandId", {
    summary: "Show a command and its result",
    access: staff().needs("devices:read"),
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED"],
    refs: { commandId: "device-command" },
    returns: Command,
  }),
  cancel: post("/devices/:id/commands/:commandId/cancel", {
    summary: "Cancel a command that no agent has claimed",
    own: "whoever sent a command by mistake takes it back before an agent claims it: `rmm commands cancel`",
    description:
      "It will not run. One that was claimed may have run and stays as it is, and so does what ends elevated rights: 409 with its status.",
    access: staff().needs("devices:execute").withMfa(),
    audit: "device.command.cancel",
    mayEmit: ["device.command.failed"],
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "DEVICE_DECOMMISSIONED", "INVALID_STATE"],
    loses: "nothing",
    refs: { commandId: "device-command" },
    returns: Command,
  }),
});
