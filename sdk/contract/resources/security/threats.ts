import { z } from "zod";
import { staff } from "../../core/access.ts";
import { get, type Noun, resource, shape } from "../../core/endpoint.ts";
import { bound, instant, lenient, ref, reported, reportedOrBlank, searchText, timestamp } from "../../core/fields.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";

export const threatCategories = ["trojan", "pup", "malware", "ransomware", "spyware"] as const;
export const threatSeverities = ["critical", "high", "medium", "low"] as const;
export const threatStatuses = ["active", "quarantined", "removed"] as const;
/** As agents say it; what each means is a status (docs/security.md, "Threats"). */
export const rawThreatStatuses = ["detected", "active", "failed", "quarantined", "removed", "allowed"] as const;

/** A threat as an agent reports it (docs/security.md, "Threats"). */
export const ThreatReport = shape("ThreatReport", () =>
  z.object({
    externalId: lenient(reportedOrBlank(255)),
    name: reported(255),
    category: lenient(z.enum(threatCategories).nullable()),
    severity: z.enum(threatSeverities),
    path: lenient(reportedOrBlank(255)),
    status: z.enum(rawThreatStatuses),
    detectedAt: timestamp(),
  }),
);

/** A threat that was found on a device (docs/security.md, "Threats"). */
export const Threat = shape("Threat", () =>
  z.object({
    id: z.string(),
    orgId: z.string(),
    deviceId: z.string().nullable().describe("null: the device has left the organization"),
    deviceName: z.string(),
    providerId: z.string().nullable().describe("what protected the device when it was found"),
    name: z.string(),
    category: z.enum(threatCategories).nullable(),
    severity: z.enum(threatSeverities),
    status: z.enum(threatStatuses),
    rawStatus: z.enum(rawThreatStatuses).describe("as the agent said it"),
    filePath: z.string().nullable(),
    detectedAt: instant(),
    removedAt: instant().nullable().describe("when the server learned of it"),
  }),
);

const ThreatSummary = shape("ThreatSummary", () =>
  z.object({
    total: z.int(),
    active: z.int(),
    quarantined: z.int(),
    critical: z.int().describe("active and critical"),
    allowed: z.int().describe("people let them be: in no other count than the total"),
  }),
);

const about: Noun = {
  name: "threats",
  summary: "Threats that were found on devices",
  thing: "threat",
  kinds: { threat: { label: "name" } },
  audits: [],
};

const filters = () => ({
  ...pageQuery(),
  severity: z.enum(threatSeverities).optional().describe("how much harm it can do"),
  status: z.enum(threatStatuses).optional().describe("what has become of it"),
  category: z.enum(threatCategories).optional().describe("what kind of threat"),
  providerId: z.string().max(64).optional().describe("what protected the device, such as windows_defender"),
  startDate: bound("from").optional().describe("detected then or later"),
  endDate: bound("to").optional().describe("detected then or earlier"),
  search: searchText().optional().describe("part of the threat's name, its path or the device's name"),
});

const listed = {
  access: staff().needs("devices:read"),
  paging: paged,
  columns: ["severity", "name", "status", "deviceName", "detectedAt", "filePath", "id"],
  returns: () => pageOf(Threat()).extend({ summary: ThreatSummary() }),
} as const;

export const threats = resource(about, {
  list: get("/security/threats", {
    ...listed,
    summary: "List threats, the newest first",
    description: "`summary` counts all that the filters leave. Decommissioned devices are left out.",
    errors: ["ORG_ACCESS_DENIED"],
    query: () =>
      z.object({
        ...filters(),
        orgId: ref("organization").optional().describe("found on devices of this organization"),
      }),
  }),
  ofDevice: get("/security/threats/:deviceId", {
    ...listed,
    summary: "List the threats of a device, the newest first",
    refs: { deviceId: "device" },
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED"],
    query: () => z.object(filters()),
  }),
});
