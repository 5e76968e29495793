import { z } from "zod";
import { staff } from "../../core/access.ts";
import { get, type Noun, resource, shape } from "../../core/endpoint.ts";
import {
  bound,
  idOf,
  instant,
  lenient,
  lenientList,
  link,
  ref,
  reported,
  reportedOrBlank,
  searchText,
} from "../../core/fields.ts";
import { paged, pageOf, pageQuery, whole, wholeOf } from "../../core/page.ts";
import { osTypes } from "../fleet/devices.ts";

export const patchSources = ["microsoft", "apple", "linux", "third_party", "custom"] as const;
/** The least severe first: what they are ordered by. */
export const patchSeverities = ["unknown", "low", "moderate", "important", "critical"] as const;
/** Of each section of a report. */
export const PATCHES_MAX = 5_000;
export const devicePatchStatuses = ["pending", "installed", "missing"] as const;

const fact = (max = 255) => lenient(reportedOrBlank(max));
const day = () => lenient(bound("from").nullable());
const cve = () =>
  z
    .string()
    .trim()
    .toUpperCase()
    .regex(/^CVE-\d{4}-\d{4,12}$/);

const named = () => ({
  source: z.enum(patchSources),
  externalId: fact(),
  title: reported(500),
  version: fact(),
  packageId: fact(256),
});

/** A patch that could be installed, as an agent reports it (docs/software.md, "Reports of patches"). */
export const PendingPatchReport = shape("PendingPatchReport", () =>
  z.object({
    ...named(),
    currentVersion: fact(),
    vendor: fact(),
    severity: lenient(z.enum(patchSeverities).nullable()),
    category: fact(),
    kbNumber: fact(),
    cveIds: lenientList(cve(), 100),
    requiresRestart: lenient(z.boolean().nullable()),
    sizeBytes: lenient(z.int().min(0).nullable()),
    releaseDate: day(),
  }),
);

/** A patch that is installed, as an agent reports it. */
export const InstalledPatchReport = shape("InstalledPatchReport", () => z.object({ ...named(), installedAt: day() }));

const patch = () => ({
  id: idOf("patch"),
  source: z.enum(patchSources),
  externalId: z.string().nullable(),
  packageId: z.string().nullable(),
  vendor: z.string().nullable(),
  version: z.string().nullable(),
  title: z.string(),
  severity: z.enum(patchSeverities),
  category: z.string().nullable(),
  osTypes: z.array(z.enum(osTypes)),
  releaseDate: instant().nullable(),
  kbArticleUrl: link().nullable(),
  requiresReboot: z.boolean(),
  downloadSizeMb: z.number().nullable(),
  cveIds: z.array(z.string()),
  createdAt: instant().describe("when a device that you reach reported it first"),
  pendingDeviceCount: z.int(),
  installedDeviceCount: z.int(),
});

/** A patch as devices that the caller reaches report it (docs/software.md, "What is shown of a patch"). */
export const Patch = shape("Patch", () => z.object(patch()));

export const PatchDetail = shape("PatchDetail", () =>
  z.object({
    ...patch(),
    devices: z
      .array(
        z.object({
          deviceId: idOf("device"),
          hostname: z.string(),
          status: z.enum(devicePatchStatuses),
          installedAt: instant().nullable(),
        }),
      )
      .describe("at most 200, those it waits on first"),
  }),
);

export const PatchSource = shape("PatchSource", () =>
  z.object({
    id: z.enum(patchSources),
    name: z.string(),
    os: z.array(z.enum(osTypes)),
    patchCount: z.int(),
    pendingCount: z.int().describe("patches that wait on at least one device"),
  }),
);

const about: Noun = {
  name: "patches",
  summary: "Patches that wait or are installed on devices",
  thing: "patch",
  kinds: { patch: { label: "title" } },
  audits: [],
};

const os = () => z.enum(osTypes).optional().describe("reported by a device with this system");

export const patches = resource(about, {
  list: get("/patches", {
    summary: "List patches",
    description:
      "Those that devices you reach have reported, with how many of these they wait on and are installed on.",
    access: staff().needs("devices:read"),
    errors: ["ORG_ACCESS_DENIED"],
    paging: paged,
    columns: ["title", "severity", "source", "pendingDeviceCount", "installedDeviceCount", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        orgId: ref("organization").optional().describe("reported by a device of this organization"),
        source: z.enum(patchSources).optional().describe("only those from there"),
        severity: z.enum(patchSeverities).optional().describe("only those of this severity"),
        os: os(),
        search: searchText().optional().describe("part of title or external id"),
        cveId: z.string().trim().toUpperCase().max(30).optional().describe("such as CVE-2026-21412"),
        sortBy: z
          .enum(["title", "severity", "source", "releaseDate", "createdAt"])
          .optional()
          .describe("what the list is ordered by"),
        sortDir: z.enum(["asc", "desc"]).optional().describe("asc for title and source, else desc"),
      }),
    returns: () => pageOf(Patch()).extend({ counts: z.record(z.string(), z.int()).describe("patches by source") }),
  }),
  sources: get("/patches/sources", {
    summary: "List where patches come from, with how many there are",
    access: staff().needs("devices:read"),
    paging: whole,
    columns: ["name", "os", "patchCount", "pendingCount", "id"],
    query: () => z.object({ os: os() }),
    returns: () => wholeOf(PatchSource()),
  }),
  get: get("/patches/:id", {
    summary: "Show a patch and the devices it is on",
    access: staff().needs("devices:read"),
    errors: ["NOT_FOUND"],
    returns: PatchDetail,
  }),
});
