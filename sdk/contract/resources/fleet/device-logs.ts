import { z } from "zod";
import { agent, staff } from "../../core/access.ts";
import { get, type Noun, post, put, resource, shape } from "../../core/endpoint.ts";
import { bound, type FieldMeta, instant, searchText } from "../../core/fields.ts";
import { lenientInt, pageOf, pageQuery } from "../../core/page.ts";
import { eventCategories, eventLevels } from "../../core/policy-features/event-log.ts";

const MEGABYTE = 1024 * 1024;
export const LOGS_MAX = 500;
export const EVENTS_MAX = 5_000;
const agentParams = () => z.object({ id: z.string().min(1).max(128) });

export const logLevels = ["debug", "info", "warn", "error"] as const;

/** Published as `item`, and read by its room: what is malformed is repaired or left out. */
const unread = <S extends z.ZodType>(item: S) => {
  const { $schema: _, ...published } = z.toJSONSchema(item, { io: "input" });
  return z.unknown().meta({ published } satisfies FieldMeta) as z.ZodType as z.ZodType<unknown, z.input<S>>;
};

/** What is no list reads as none; what is too long is cut. */
const listOf = <S extends z.ZodType>(item: S, max: number) =>
  z.preprocess(
    (given) => (Array.isArray(given) ? given.slice(0, max) : undefined),
    z.array(item).max(max).optional(),
  ) as unknown as z.ZodOptional<z.ZodArray<S>>;

const LogReport = () =>
  z.object({
    timestamp: z.string().describe("ISO-8601, of the device's clock"),
    level: z.enum(logLevels),
    component: z.string().optional().describe("part of the agent, 100 characters are kept"),
    message: z.string().describe("10,000 characters are kept"),
    fields: z.record(z.string(), z.unknown()).optional().describe("what else is known, 32 KB are kept"),
    agentVersion: z.string().optional().describe("50 characters are kept"),
  });

const EventReport = () =>
  z.object({
    timestamp: z.string().describe("ISO-8601, of the device's clock"),
    level: z.enum(eventLevels),
    category: z.enum(eventCategories),
    source: z.string().describe("255 characters are kept"),
    eventId: z.string().optional().describe("of the record, such as System/4711/1790000000; 100 characters are kept"),
    message: z.string().describe("2,000 characters are kept"),
    details: z.record(z.string(), z.unknown()).optional().describe("what else is known, 64 KB are kept"),
  });

/** A line that the agent on a device wrote about itself (docs/device-logs.md). */
export const DiagnosticLog = shape("DiagnosticLog", () =>
  z.object({
    id: z.string(),
    deviceId: z.string(),
    orgId: z.string(),
    timestamp: instant().describe("when it was written, by the device's clock"),
    level: z.enum(logLevels),
    component: z.string(),
    message: z.string().describe("secrets are masked"),
    fields: z.record(z.string(), z.unknown()).nullable(),
    agentVersion: z.string().nullable(),
    createdAt: instant().describe("when the server took it"),
  }),
);

/** An entry of a log of the device's operating system (docs/device-logs.md). */
export const DeviceEvent = shape("DeviceEvent", () =>
  z.object({
    id: z.string(),
    deviceId: z.string(),
    orgId: z.string(),
    timestamp: instant().describe("when it happened, by the device's clock"),
    level: z.enum(eventLevels),
    category: z.enum(eventCategories),
    source: z.string(),
    eventId: z.string().describe("of the record: it is stored once"),
    message: z.string().describe("secrets are masked"),
    details: z.record(z.string(), z.unknown()).nullable(),
    createdAt: instant().describe("when the server took it"),
  }),
);

const about: Noun = {
  name: "device-logs",
  summary: "What agents log, and the event logs of devices",
  thing: "device",
  audits: ["agent.logs.submit", "agent.eventlogs.submit"],
};

const submission = {
  access: agent(),
  errors: [
    "INVALID_AGENT_CREDENTIALS",
    "DEVICE_DECOMMISSIONED",
    "DEVICE_QUARANTINED",
    "TENANT_OFFBOARDING",
    "NOT_FOUND",
  ],
  params: agentParams,
  inflatedLimitBytes: 10 * MEGABYTE,
} as const;

const told = () => ({
  invalid: z.int().optional().describe("entries without a usable level or message: they are left out"),
  ignoredFields: z.array(z.string()).optional(),
});

const reading = {
  access: staff().needs("devices:read"),
  errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "FILTER_TIMEOUT"],
} as const;

export const deviceLogs = resource(about, {
  submit: post("/agents/:id/logs", {
    ...submission,
    summary: "Report what the agent logged",
    description:
      "Entries are stored in groups of 100, in order. 207 with `partial` where a later group could not be stored: send " +
      "again from index `received`.",
    audit: "agent.logs.submit",
    loses: "nothing",
    status: 201,
    otherStatuses: [200, 207],
    bodyLimitBytes: 256 * 1024,
    body: () => z.object({ logs: listOf(unread(LogReport()), LOGS_MAX).describe("what was logged, the oldest first") }),
    returns: () =>
      z.object({
        received: z.int().describe("so many entries of the list are done with"),
        total: z.int().optional().describe("of so many that were sent"),
        partial: z.literal(true).optional(),
        ...told(),
      }),
  }),
  submitEvents: put("/agents/:id/eventlogs", {
    ...submission,
    summary: "Report entries of the device's event logs",
    description:
      "Entries below the organization's minimum level are left out, and so are those that are stored already. Beyond the " +
      "organization's hourly number nothing is stored: 429 says how many may be sent now, and when more may.",
    audit: "agent.eventlogs.submit",
    loses: "nothing",
    bodyLimitBytes: 8 * MEGABYTE,
    body: () =>
      z.object({ events: listOf(unread(EventReport()), EVENTS_MAX).describe("what happened, the oldest first") }),
    returns: () =>
      z.object({
        success: z.literal(true),
        count: z.int().describe("entries that were stored"),
        filtered: z.int().describe("entries below the minimum level"),
        ...told(),
      }),
  }),
  diagnostic: get("/devices/:id/diagnostic-logs", {
    ...reading,
    summary: "List what a device's agent logged, the newest first",
    paging: { kind: "page", items: "logs" },
    columns: ["timestamp", "level", "component", "message", "fields", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        limit: lenientInt({ default: 50, min: 1, max: 1_000 }).describe("entries of a page"),
        level: z
          .string()
          .max(200)
          .optional()
          .describe(`only of these levels, separated by commas: ${logLevels.join(", ")}; unknown names are ignored`),
        component: z.string().max(100).optional().describe("only of this part of the agent"),
        since: bound("from").optional().describe("written then or later"),
        until: bound("to").optional().describe("written then or earlier"),
        search: searchText().optional().describe("part of the message"),
      }),
    returns: () =>
      z.object({
        logs: z.array(DiagnosticLog()),
        total: z.int(),
        limit: z.int(),
        offset: z.int().describe("passed over"),
      }),
  }),
  events: get("/devices/:id/eventlogs", {
    ...reading,
    summary: "List stored events of a device, the newest first",
    paging: { kind: "page", items: "data" },
    columns: ["timestamp", "level", "category", "source", "message", "eventId", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        limit: lenientInt({ default: 50, min: 1, max: 500 }).describe("entries of a page"),
        category: z.enum(eventCategories).optional().describe("only of this kind of log"),
        level: z.enum(eventLevels).optional().describe("only of this level"),
        source: z.string().max(255).optional().describe("only of this source"),
        startDate: bound("from").optional().describe("happened then or later"),
        endDate: bound("to").optional().describe("happened then or earlier"),
      }),
    returns: () => pageOf(DeviceEvent()),
  }),
});
