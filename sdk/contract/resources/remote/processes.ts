import { z } from "zod";
import { staff } from "../../core/access.ts";
import { get, type Noun, post, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, flag, instant, ref, text } from "../../core/fields.ts";
import { Done, liveErrors, livePage } from "../../core/live.ts";
import { paged, pageOf } from "../../core/page.ts";

export const processStatuses = ["running", "sleeping", "stopped", "zombie"] as const;

/** A process as the agent tells of it; null: it does not say. */
export const Process = shape("Process", () =>
  z.object({
    pid: z.int(),
    name: z.string(),
    cpuPercent: z.number().nullable(),
    memoryMb: z.number().nullable(),
    user: z.string().nullable(),
    status: z.enum(processStatuses).nullable(),
    startTime: instant().nullable(),
    commandLine: z.string().nullable().describe("null without devices:execute: it can hold passwords"),
    parentPid: z.int().nullable(),
    threads: z.int().nullable(),
  }),
);

const about: Noun = {
  name: "processes",
  summary: "Processes that run on a device",
  audits: ["device.process.kill"],
};

const refs = { deviceId: "device", pid: "opaque" } as const;
const one = () =>
  z.object({
    deviceId: ref("device"),
    pid: z
      .string()
      .regex(/^\d{1,10}$/, "must be the number of a process")
      .meta({ example: "4711" } satisfies FieldMeta),
  });

export const processes = resource(about, {
  list: get("/system-tools/devices/:deviceId/processes", {
    summary: "List the processes of a device",
    description: "Asks the agent and waits for its answer, at most 30 seconds.",
    access: staff().needs("devices:read").withMfa(),
    errors: liveErrors,
    refs: { deviceId: "device" },
    paging: paged,
    columns: ["name", "pid", "cpuPercent", "memoryMb", "user", "status", "startTime"],
    query: () =>
      z.object({
        ...livePage(),
        search: text(500).optional().describe("part of name, user or command line"),
        sortBy: z.enum(["cpu", "memory", "pid", "name", "user"]).optional().describe("what the list is ordered by"),
        sortDesc: flag().optional().describe("highest first"),
      }),
    returns: () => pageOf(Process()),
  }),
  get: get("/system-tools/devices/:deviceId/processes/:pid", {
    summary: "Show a process of a device",
    access: staff().needs("devices:read").withMfa(),
    errors: liveErrors,
    refs,
    params: one,
    returns: Process,
  }),
  kill: post("/system-tools/devices/:deviceId/processes/:pid/kill", {
    summary: "End a process of a device",
    description: "The agent does not end itself. After `AGENT_TIMEOUT` with `unverified` it may have been done.",
    access: staff().needs("devices:execute").withMfa(),
    audit: "device.process.kill",
    loses: "work",
    errors: liveErrors,
    refs,
    params: one,
    query: () => z.object({ force: flag().optional().describe("without letting it finish") }),
    bodyOptional: true,
    body: () => z.object({ force: z.boolean().optional().describe("the same, where the query says nothing") }),
    returns: Done,
  }),
});
