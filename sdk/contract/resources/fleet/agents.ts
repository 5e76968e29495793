import { z } from "zod";
import { agent, open } from "../../core/access.ts";
import { get, type Noun, post, resource, shape } from "../../core/endpoint.ts";
import {
  type FieldMeta,
  idOf,
  instant,
  lenient,
  lenientList,
  ref,
  reported,
  reportedOrBlank,
  secret,
  timestamp,
} from "../../core/fields.ts";
import { lenientInt } from "../../core/page.ts";
import { deviceRoles, osTypes } from "./devices.ts";

const MEGABYTE = 1024 * 1024;

/** An agent names itself by agent id (64 hexadecimal characters) or device id; anything else is not found. */
const agentParams = () => z.object({ id: z.string().min(1).max(128) });

const count = () => z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const amount = () => z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const percent = () => z.number().min(0).max(100);

/** One sample: percents 0 to 100, bandwidth in bits and disk in bytes per second (docs/fleet.md, "Samples"). */
export const Metrics = shape("Metrics", () =>
  z.object({
    timestamp: lenient(timestamp()),
    cpuPercent: percent(),
    ramPercent: percent(),
    ramUsedMb: lenient(amount()),
    diskPercent: percent(),
    diskUsedGb: lenient(amount()),
    diskReadBps: lenient(amount()),
    diskWriteBps: lenient(amount()),
    bandwidthInBps: lenient(amount()),
    bandwidthOutBps: lenient(amount()),
    interfaces: lenientList(
      z.object({
        name: reported(255),
        inErrors: lenient(count()),
        outErrors: lenient(count()),
        inBps: lenient(amount()),
        outBps: lenient(amount()),
      }),
      100,
    ),
    processes: lenientList(
      z.object({
        name: reported(255),
        pid: lenient(count()),
        cpuPercent: amount(),
        memoryMb: amount(),
      }),
      50,
    ),
    processCount: lenient(count()),
  }),
);

const fact = (max: number) => lenient(reportedOrBlank(max));
const number = () => lenient(z.int().min(0).max(1_000_000).nullable());
const quantity = () => lenient(amount().nullable());
/** What a machine may fail to say of itself without being kept out. */
const named = (max: number) => reported(max).catch("unknown");
const machine = <S extends z.ZodType>(description: string, example: string, schema: S): S =>
  schema.meta({ description, example } satisfies FieldMeta);

/** Hardware as an agent reports it (docs/fleet.md, "Inventory"). */
export const HardwareReport = shape("HardwareReport", () =>
  z.object({
    manufacturer: fact(255),
    model: fact(255),
    serialNumber: fact(255),
    cpuModel: fact(255),
    cpuCores: number(),
    cpuThreads: number(),
    ramTotalMb: quantity(),
    diskTotalGb: quantity(),
    gpuModel: fact(255),
    biosVersion: fact(255),
  }),
);

/** One network interface as an agent reports it (docs/fleet.md, "Inventory"). */
export const NetworkReport = shape("NetworkReport", () =>
  z.object({
    interfaceName: reported(255),
    macAddress: fact(64),
    ipAddress: fact(64),
    subnetMask: fact(64),
    publicIp: fact(64),
    isPrimary: lenient(z.boolean()),
  }),
);

const AgentTokens = shape("AgentTokens", () => z.object({ agentToken: secret(), watchdogToken: secret() }));
const policy = () => z.record(z.string(), z.unknown()).nullable();

/** Paths of what was left out of a report, at most 20. */
const ignored = () => ({ ignoredFields: z.array(z.string()).optional() });

const ClaimedCommand = shape("ClaimedCommand", () =>
  z.object({ id: z.string(), type: z.string(), payload: z.record(z.string(), z.unknown()) }),
);

const output = () => lenient(z.string());

/** How a command ended, over HTTP and the socket alike (docs/fleet.md, "Results of commands"). */
export const CommandReport = shape("CommandReport", () =>
  z.object({
    status: z.enum(["completed", "failed", "timeout"]).describe("how the command ended"),
    exitCode: lenient(z.int()).describe("exit code of what ran"),
    stdout: output().describe("what it printed"),
    stderr: output().describe("what it printed as errors"),
    error: lenient(reported(10_000)).describe("why it failed, in words"),
    errorCode: lenient(reported(255)).describe("kind of the failure"),
    durationMs: lenient(count()).describe("milliseconds it took"),
    startedAt: lenient(timestamp()).describe("when it began"),
    result: z
      .unknown()
      .optional()
      .meta({ description: "what it answers, by type", example: { ok: true } } satisfies FieldMeta),
  }),
);

/** A report that the device is alive, over HTTP and the socket alike. */
export const HeartbeatReport = shape("HeartbeatReport", () =>
  z.object({
    status: lenient(z.enum(["ok", "warning", "error"])).describe("how the agent says it is"),
    agentVersion: lenient(reported(50)).describe("version of the agent"),
    role: lenient(z.enum(["agent", "watchdog"])).describe("who reports"),
    watchdogState: lenient(z.enum(["CONNECTED", "FAILOVER"])).describe("state of the watchdog"),
    metrics: lenient(Metrics()).describe("measured load"),
    hostname: lenient(reported(255)).describe("hostname of the device"),
    osVersion: lenient(reported(100)).describe("version of the operating system"),
    osBuild: lenient(reported(100)).describe("build of the operating system"),
    lastUser: lenient(reported(255)).describe("last signed-in user"),
    uptimeSeconds: lenient(count()).describe("seconds since the last start"),
    pendingReboot: lenient(z.boolean()).describe("whether a restart is pending"),
    isHeadless: lenient(z.boolean()).describe("whether it has no screen"),
    deviceRole: lenient(z.enum(deviceRoles)).describe("role of the device"),
    watchdogVersion: lenient(reported(50)).describe("version of the watchdog"),
    watches: lenientList(
      z.object({
        watchType: z.enum(["service", "process"]),
        name: reported(255),
        running: z.boolean(),
        autoRestarted: lenient(z.boolean()),
        checkedAt: timestamp(),
      }),
      1000,
    ).describe("states of watched services and processes"),
  }),
);

const about: Noun = {
  name: "agents",
  summary: "What the agent on a device calls",
  thing: "device",
  audits: [
    "agent.enroll",
    "agent.token.rotate",
    "agent.heartbeat.state_change",
    "agent.source.ip.changed",
    "agent.command.result.submit",
  ],
};

export const agents = resource(about, {
  enroll: post("/agents/enroll", {
    from: "machine",
    summary: "Join an organization with an enrollment key",
    description:
      "The second factor may also come in the header `X-Agent-Enrollment-Secret`. With the device's current token in `Authorization`, or the key and `enrollmentNonce` of a first enrollment within 24 hours, the same device gets new tokens; otherwise a new device is made.",
    access: open(),
    emits: ["device.enrolled"],
    mayEmit: ["device.online", "site.created"],
    audit: "agent.enroll",
    loses: "nothing",
    status: 201,
    errors: [
      "ENROLLMENT_KEY_NOT_FOUND",
      "ENROLLMENT_KEY_EXPIRED",
      "ENROLLMENT_KEY_EXHAUSTED",
      "ENROLLMENT_SECRET_REQUIRED",
      "ENROLLMENT_SECRET_INVALID",
      "TENANT_INACTIVE",
      "TENANT_OFFBOARDING",
      "SITE_NOT_IN_ORG",
      "DEVICE_LIMIT_REACHED",
      "DEVICE_QUARANTINED",
      "CONCURRENT_MODIFICATION",
    ],
    body: () =>
      z.object({
        enrollmentKey: secret(z.string().trim().min(1).max(512)).describe("enrollment key of the organization"),
        enrollmentSecret: secret(z.string().min(1).max(512))
          .optional()
          .describe("enrollment secret, if the server or the key requires one"),
        enrollmentNonce: lenient(
          secret(z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal characters")),
        ).describe("what the agent keeps to repeat its enrollment"),
        hostname: machine("hostname of the device", "reception-pc", reported(255)),
        osType: z.enum(osTypes).describe("operating system"),
        osVersion: machine("version of the operating system", "Windows 11 24H2", named(100)),
        osBuild: lenient(reported(100)).describe("build of the operating system"),
        architecture: machine("processor architecture: x64, arm64", "amd64", named(20)),
        agentVersion: machine("version of the agent", "1.4.0", named(50)),
        deviceRole: lenient(z.enum(deviceRoles)).describe("role of the device"),
        isVirtual: lenient(z.boolean()).describe("whether it is a virtual machine"),
        siteId: lenient(ref("site")).describe("site it is at, where the key pins none"),
        hardware: lenient(HardwareReport()).describe("what the machine is made of"),
        network: lenientList(NetworkReport(), 100).describe("its network interfaces"),
      }),
    returns: () =>
      z.object({
        agentId: z.string(),
        deviceId: idOf("device"),
        orgId: idOf("organization"),
        siteId: idOf("site"),
        ...AgentTokens().shape,
        config: z.object({ heartbeatIntervalSeconds: z.int(), metricsIntervalSeconds: z.int() }),
        ...ignored(),
      }),
  }),
  heartbeat: post("/agents/:id/heartbeat", {
    summary: "Report that the device is alive and collect work",
    description:
      "Unknown or malformed optional fields are ignored. Every answer has `commands`: agents of every version read it. The watchdog's credential always reports as the watchdog, regardless of `role`.",
    access: agent().orWatchdog(),
    mayEmit: ["device.online", "device.updated", "device.main_agent_silent"],
    audit: { none: "agent report; a change of state is audited as agent.heartbeat.state_change" },
    loses: "nothing",
    errors: ["INVALID_AGENT_CREDENTIALS", "DEVICE_DECOMMISSIONED", "DEVICE_QUARANTINED", "NOT_FOUND"],
    bodyLimitBytes: 8 * MEGABYTE,
    params: agentParams,
    body: HeartbeatReport,
    returns: () =>
      z.object({
        commands: z.array(ClaimedCommand()),
        config: z.object({
          heartbeatIntervalSeconds: z.int(),
          metricsIntervalSeconds: z.int(),
          policies: z.object({ pam: policy(), event_log: policy(), monitoring: policy(), backup: policy() }),
        }),
        serverTime: instant(),
        draining: z.boolean(),
        rotateToken: z.literal(true).optional(),
        upgradeTo: z.string().optional(),
        ...ignored(),
      }),
  }),
  claim: get("/agents/:id/commands", {
    summary: "Collect commands, waiting for one if there is none",
    access: agent().orWatchdog(),
    errors: ["INVALID_AGENT_CREDENTIALS", "DEVICE_DECOMMISSIONED", "DEVICE_QUARANTINED", "NOT_FOUND"],
    params: agentParams,
    query: () => z.object({ wait: lenientInt({ default: 0, min: 0, max: 30 }).describe("seconds") }),
    returns: () => z.object({ commands: z.array(ClaimedCommand()) }),
  }),
  submitResult: post("/agents/:id/commands/:commandId/result", {
    summary: "Report how a command ended",
    description: "Only the first report counts; any other is answered `ignored`.",
    access: agent().orWatchdog(),
    audit: "agent.command.result.submit",
    mayEmit: ["device.command.completed", "device.command.failed", "device.decommissioned", "elevation.activated"],
    loses: "nothing",
    errors: [
      "INVALID_AGENT_CREDENTIALS",
      "DEVICE_DECOMMISSIONED",
      "DEVICE_QUARANTINED",
      "TENANT_OFFBOARDING",
      "NOT_FOUND",
    ],
    bodyLimitBytes: 36 * MEGABYTE,
    refs: { commandId: "device-command" },
    params: () => z.object({ ...agentParams().shape, commandId: ref("device-command") }),
    body: CommandReport,
    returns: () => z.object({ success: z.literal(true), ignored: z.literal(true).optional(), ...ignored() }),
  }),
  rotateToken: post("/agents/:id/rotate-token", {
    summary: "Replace the device's tokens; the old ones last ten more minutes",
    access: agent(),
    audit: "agent.token.rotate",
    loses: "secret",
    errors: [
      "INVALID_AGENT_CREDENTIALS",
      "DEVICE_DECOMMISSIONED",
      "DEVICE_QUARANTINED",
      "TENANT_OFFBOARDING",
      "NOT_FOUND",
      "CONCURRENT_MODIFICATION",
    ],
    params: agentParams,
    returns: AgentTokens,
  }),
});
