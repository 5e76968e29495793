import { z } from "zod";
import { agent } from "../../core/access.ts";
import { type Noun, post, put, resource, shape } from "../../core/endpoint.ts";
import { lenient, lenientList, reported, reportedOrBlank, timestamp } from "../../core/fields.ts";
import { SecurityReport } from "../security/security-posture.ts";
import { ThreatReport } from "../security/threats.ts";
import { InstalledPatchReport, PATCHES_MAX, PendingPatchReport } from "../software/patches.ts";
import { HardwareReport, Metrics, NetworkReport } from "./agents.ts";

const MEGABYTE = 1024 * 1024;
const agentParams = () => z.object({ id: z.string().min(1).max(128) });
const fact = () => lenient(reportedOrBlank(255));
const quantity = () => lenient(z.number().min(0).max(Number.MAX_SAFE_INTEGER).nullable());

/** One file system as an agent reports it (docs/fleet.md, "Inventory"). */
export const DiskReport = shape("DiskReport", () =>
  z.object({
    mountPoint: reported(255),
    fsType: fact(),
    totalGb: quantity(),
    usedGb: quantity(),
    freeGb: quantity(),
    usedPercent: lenient(z.number().min(0).max(100).nullable()),
  }),
);

/** One installed program as an agent reports it (docs/fleet.md, "Software"). */
export const SoftwareReport = shape("SoftwareReport", () =>
  z.object({
    name: reported(500),
    version: fact(),
    vendor: fact(),
    installDate: fact(),
    installLocation: fact(),
    uninstallString: fact(),
  }),
);

/** A sample with its time; malformed ones are counted as dropped. */
const samples = () =>
  z.preprocess(
    (given) => (Array.isArray(given) ? given.slice(0, 500) : []),
    z.array(lenient(z.object({ ...Metrics().shape, timestamp: timestamp() })).nullable()).max(500),
  );

const refusals = [
  "INVALID_AGENT_CREDENTIALS",
  "DEVICE_DECOMMISSIONED",
  "DEVICE_QUARANTINED",
  "TENANT_OFFBOARDING",
  "NOT_FOUND",
] as const;
const report = { access: agent(), errors: refusals, params: agentParams, bodyLimitBytes: 8 * MEGABYTE } as const;
const ignored = () => ({ ignoredFields: z.array(z.string()).optional() });
const taken = () => z.object({ success: z.literal(true), count: z.int(), ...ignored() });

const about: Noun = {
  name: "agent-reports",
  summary: "What the agent on a device reports of it",
  thing: "device",
  audits: [],
};

export const agentReports = resource(about, {
  inventory: put("/agents/:id/inventory", {
    ...report,
    summary: "Report hardware, disks and network interfaces",
    description: "A section that is given replaces the stored one; one that is left out, or is no list, leaves it.",
    audit: { none: "agent report; a changed serial number is audited as agent.heartbeat.state_change" },
    loses: "nothing",
    mayEmit: ["device.updated"],
    body: () =>
      z.object({
        hardware: lenient(HardwareReport()).describe("what the machine is made of"),
        disks: lenientList(DiskReport(), 100).describe("its file systems"),
        network: lenientList(NetworkReport(), 100).describe("its interfaces"),
      }),
    returns: taken,
  }),
  software: put("/agents/:id/software", {
    ...report,
    summary: "Report installed software",
    audit: { none: "agent report" },
    loses: "nothing",
    body: () => z.object({ software: lenientList(SoftwareReport(), 10_000).describe("programs that are installed") }),
    returns: taken,
  }),
  security: put("/agents/:id/security", {
    ...report,
    summary: "Report what protects the device, and threats that were found",
    description: "Replaces what was reported before, except threats: each is changed by what is said of it alone.",
    audit: { none: "agent report; a new threat is told as security.threat_detected" },
    loses: "nothing",
    mayEmit: ["security.threat_detected"],
    body: () =>
      z.object({
        ...SecurityReport().shape,
        threats: lenientList(ThreatReport(), 500).describe("threats that its protection found"),
      }),
    returns: taken,
  }),
  patches: put("/agents/:id/patches", {
    ...report,
    summary: "Report patches that wait and patches that are installed",
    description:
      "A section that is left out, or is no list, leaves what is stored. With `full`, stored pending patches that are not " +
      "among `pending` become missing.",
    audit: { none: "agent report" },
    loses: "nothing",
    mayEmit: ["patch.available"],
    body: () =>
      z.object({
        pending: lenientList(PendingPatchReport(), PATCHES_MAX).describe("patches that could be installed"),
        installed: lenientList(InstalledPatchReport(), PATCHES_MAX).describe("patches that are installed"),
        full: lenient(z.boolean()).describe("`pending` is all that waits"),
      }),
    returns: taken,
  }),
  metrics: post("/agents/:id/metrics", {
    ...report,
    summary: "Report samples that were taken while the server could not be reached",
    audit: { none: "agent report" },
    loses: "nothing",
    status: 201,
    body: () => z.object({ samples: samples().optional().describe("each with the time it was taken") }),
    returns: () => z.object({ received: z.int(), dropped: z.int(), ...ignored() }),
  }),
});
