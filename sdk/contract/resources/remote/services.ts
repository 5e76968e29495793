import { z } from "zod";
import { staff } from "../../core/access.ts";
import { get, type Noun, post, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, ref, text } from "../../core/fields.ts";
import { Done, liveErrors, livePage } from "../../core/live.ts";
import { paged, pageOf } from "../../core/page.ts";

export const serviceStatuses = ["running", "stopped", "paused", "starting", "stopping"] as const;
export const startTypes = ["auto", "auto_delayed", "manual", "disabled"] as const;

/** A service as the agent tells of it; null: it does not say. */
export const Service = shape("Service", () =>
  z.object({
    name: z.string(),
    displayName: z.string().nullable(),
    status: z.enum(serviceStatuses).nullable(),
    startType: z.enum(startTypes).nullable(),
    account: z.string().nullable(),
    description: z.string().nullable(),
    path: z.string().nullable().describe("null without devices:execute: it can hold passwords"),
    dependencies: z.array(z.string()),
  }),
);

const about: Noun = {
  name: "services",
  summary: "Services of a device",
  audits: ["device.service.start", "device.service.stop", "device.service.restart"],
};

const refs = { deviceId: "device", name: "opaque" } as const;
const one = () =>
  z.object({ deviceId: ref("device"), name: text(256).meta({ example: "Spooler" } satisfies FieldMeta) });

const changing = {
  description: "After `AGENT_TIMEOUT` with `unverified` it may have been done.",
  access: staff().needs("devices:execute").withMfa(),
  errors: liveErrors,
  refs,
  params: one,
  returns: Done,
} as const;

export const services = resource(about, {
  list: get("/system-tools/devices/:deviceId/services", {
    summary: "List the services of a device",
    description: "Asks the agent and waits for its answer, at most 30 seconds.",
    access: staff().needs("devices:read").withMfa(),
    errors: liveErrors,
    refs: { deviceId: "device" },
    paging: paged,
    columns: ["name", "displayName", "status", "startType", "account"],
    query: () =>
      z.object({
        ...livePage(),
        search: text(500).optional().describe("part of name, display name or description"),
        status: z.enum(serviceStatuses).optional().describe("only those in this status"),
      }),
    returns: () => pageOf(Service()),
  }),
  get: get("/system-tools/devices/:deviceId/services/:name", {
    summary: "Show a service of a device",
    access: staff().needs("devices:read").withMfa(),
    errors: liveErrors,
    refs,
    params: one,
    returns: Service,
  }),
  start: post("/system-tools/devices/:deviceId/services/:name/start", {
    ...changing,
    summary: "Start a service of a device",
    audit: "device.service.start",
    loses: "nothing",
  }),
  stop: post("/system-tools/devices/:deviceId/services/:name/stop", {
    ...changing,
    summary: "Stop a service of a device",
    audit: "device.service.stop",
    loses: "work",
  }),
  restart: post("/system-tools/devices/:deviceId/services/:name/restart", {
    ...changing,
    summary: "Restart a service of a device",
    audit: "device.service.restart",
    loses: "work",
  }),
});
