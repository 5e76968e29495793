import { z } from "zod";
import { staff } from "../../core/access.ts";
import { get, type Noun, resource, shape } from "../../core/endpoint.ts";
import { bound, type FieldMeta, instant, ref, text } from "../../core/fields.ts";
import { liveErrors, livePage } from "../../core/live.ts";
import { paged, pageOf } from "../../core/page.ts";

export const recordLevels = ["information", "warning", "error", "critical", "verbose"] as const;

/** A log of the operating system, as the agent tells of it; null: it does not say. */
export const EventLog = shape("EventLog", () =>
  z.object({
    name: z.string(),
    displayName: z.string().nullable(),
    recordCount: z.number().nullable(),
    maxSize: z.number().nullable().describe("bytes"),
    retentionDays: z.number().nullable(),
    lastWriteTime: instant().nullable(),
  }),
);

/** A record of such a log; null: the agent does not say. */
export const EventRecord = shape("EventRecord", () =>
  z.object({
    recordId: z.int(),
    timeCreated: instant().nullable(),
    level: z.enum(recordLevels).nullable(),
    source: z.string().nullable(),
    eventId: z.number().nullable(),
    message: z.string().nullable().describe("secrets are masked"),
    category: z.string().nullable(),
    user: z.string().nullable(),
    computer: z.string().nullable(),
    rawXml: z.string().nullable().describe("secrets are masked"),
  }),
);

const about: Noun = {
  name: "event-logs",
  summary: "Event logs of a device, asked while it is online",
  audits: [],
};

const asking = {
  access: staff().needs("devices:read").withMfa(),
  errors: [...liveErrors, "UNSUPPORTED_OS"],
} as const;
const logName = () => text(256).meta({ example: "System" } satisfies FieldMeta);
const ofLog = { deviceId: "device", name: "opaque" } as const;

export const eventLogs = resource(about, {
  list: get("/system-tools/devices/:deviceId/eventlogs", {
    ...asking,
    summary: "List the event logs of a device",
    description: "Asks the agent and waits for its answer, at most 30 seconds. On Windows alone.",
    refs: { deviceId: "device" },
    paging: paged,
    columns: ["name", "displayName", "recordCount", "maxSize", "lastWriteTime"],
    query: () => z.object(livePage()),
    returns: () => pageOf(EventLog()),
  }),
  get: get("/system-tools/devices/:deviceId/eventlogs/:name", {
    ...asking,
    summary: "Show an event log of a device",
    refs: ofLog,
    params: () => z.object({ deviceId: ref("device"), name: logName() }),
    returns: EventLog,
  }),
  records: get("/system-tools/devices/:deviceId/eventlogs/:name/events", {
    ...asking,
    summary: "List the records of an event log of a device, the newest first",
    description: "The agent filters and pages them. What was reported before is `rmm logs events`.",
    refs: ofLog,
    params: () => z.object({ deviceId: ref("device"), name: logName() }),
    paging: paged,
    columns: ["timeCreated", "level", "source", "eventId", "message", "recordId"],
    query: () =>
      z.object({
        ...livePage(),
        level: z.enum(recordLevels).optional().describe("only of this level"),
        source: text(255).optional().describe("only of this source"),
        startTime: bound("from").optional().describe("written then or later"),
        endTime: bound("to").optional().describe("written then or earlier"),
        eventId: z
          .string()
          .regex(/^\d{1,9}$/, "must be a number")
          .transform(Number)
          .optional()
          .meta({ published: { type: "integer", minimum: 0, maximum: 999_999_999 } } satisfies FieldMeta)
          .describe("only with this number of their kind, such as 4625"),
      }),
    returns: () => pageOf(EventRecord()),
  }),
  record: get("/system-tools/devices/:deviceId/eventlogs/:name/events/:recordId", {
    ...asking,
    summary: "Show a record of an event log of a device",
    refs: { ...ofLog, recordId: "opaque" },
    params: () =>
      z.object({
        deviceId: ref("device"),
        name: logName(),
        recordId: z
          .string()
          .regex(/^\d{1,15}$/, "must be a number")
          .transform(Number)
          .meta({ published: { type: "integer" }, example: 4711 } satisfies FieldMeta),
      }),
    returns: EventRecord,
  }),
});
