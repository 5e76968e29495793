import { z } from "zod";
import { agent, open } from "../../core/access.ts";
import { type Noun, post, resource, shape } from "../../core/endpoint.ts";
import { instant, lenient, lenientList, ref, reported, reportedOrBlank, secret, timestamp } from "../../core/fields.ts";
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

const fact = (max: number) => reportedOrBlank(max).optional();
const number = () => z.int().min(0).max(1_000_000).nullable().optional();
const quantity = () => amount().nullable().optional();

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
    isPrimary: z.boolean().optional(),
  }),
);

const AgentTokens = shape("AgentTokens", () => z.object({ agentToken: secret(), watchdogToken: secret() }));
const policy = () => z.record(z.string(), z.unknown()).nullable();

const about: Noun = {
  name: "agents",
  summary: "What the agent on a device calls",
  thing: "device",
  auditPrefixes: ["agent"],
};

export const agents = resource(about, {
  enroll: post("/agents/enroll", {
    from: "machine",
    summary: "Join an organization with an enrollment key",
    description:
      "The second factor may also come in the header `X-Agent-Enrollment-Secret`. With the device's current token in `Authorization` the same device gets new tokens; otherwise a new device is made.",
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
        enrollmentKey: secret(z.string().trim().min(1).max(512)),
        enrollmentSecret: secret(z.string().min(1).max(512)).optional(),
        hostname: reported(255),
        osType: z.enum(osTypes),
        osVersion: reported(100),
        osBuild: reported(100).optional(),
        architecture: reported(20),
        agentVersion: reported(50),
        deviceRole: z.enum(deviceRoles).optional(),
        isVirtual: z.boolean().optional(),
        siteId: ref("site").optional(),
        hardware: HardwareReport().optional(),
        network: z.array(NetworkReport()).max(100).optional(),
      }),
    returns: () =>
      z.object({
        agentId: z.string(),
        deviceId: z.string(),
        orgId: z.string(),
        siteId: z.string(),
        ...AgentTokens().shape,
        config: z.object({ heartbeatIntervalSeconds: z.int(), metricsIntervalSeconds: z.int() }),
      }),
  }),
  heartbeat: post("/agents/:id/heartbeat", {
    summary: "Report that the device is alive and collect work",
    description:
      "Unknown or malformed optional fields are ignored. Every answer has `commands`: agents of every version read it. The watchdog's credential always reports as the watchdog, regardless of `role`.",
    access: agent().orWatchdog(),
    mayEmit: ["device.online", "device.main_agent_silent"],
    audit: { none: "agent report; a change of state is audited as agent.heartbeat.state_change" },
    loses: "nothing",
    errors: ["INVALID_AGENT_CREDENTIALS", "DEVICE_DECOMMISSIONED", "DEVICE_QUARANTINED", "NOT_FOUND"],
    bodyLimitBytes: 8 * MEGABYTE,
    params: agentParams,
    body: () =>
      z.object({
        status: z.enum(["ok", "warning", "error"]),
        agentVersion: reported(50),
        role: lenient(z.enum(["agent", "watchdog"])),
        watchdogState: lenient(z.enum(["CONNECTED", "FAILOVER"])),
        metrics: lenient(Metrics()),
        hostname: lenient(reported(255)),
        osVersion: lenient(reported(100)),
        osBuild: lenient(reported(100)),
        lastUser: lenient(reported(255)),
        uptimeSeconds: lenient(count()),
        pendingReboot: lenient(z.boolean()),
        isHeadless: lenient(z.boolean()),
        deviceRole: lenient(z.enum(deviceRoles)),
        watchdogVersion: lenient(reported(50)),
        watches: lenientList(
          z.object({
            watchType: z.enum(["service", "process"]),
            name: reported(255),
            running: z.boolean(),
            autoRestarted: lenient(z.boolean()),
            checkedAt: timestamp(),
          }),
          1000,
        ),
      }),
    returns: () =>
      z.object({
        commands: z.array(z.object({ id: z.string(), type: z.string(), payload: z.record(z.string(), z.unknown()) })),
        config: z.object({
          heartbeatIntervalSeconds: z.int(),
          metricsIntervalSeconds: z.int(),
          policies: z.object({ pam: policy(), event_log: policy(), monitoring: policy(), backup: policy() }),
        }),
        serverTime: instant(),
        draining: z.boolean(),
        rotateToken: z.literal(true).optional(),
        upgradeTo: z.string().optional(),
      }),
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
