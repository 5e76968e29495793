import type { devicePatchStatuses, patchSources } from "#contract/resources/software/patches";
import type { Fixed } from "../column-types.ts";
import type { Declared } from "../table-declaration.ts";

/** What patches of all tenants are called by: nothing else that a device said (docs/software.md, "Shared patches"). */
export interface PatchesTable {
  /** Made from the two below, so that it tells nobody when or by whom the patch was first reported. */
  id: Fixed<string>;
  source: Fixed<(typeof patchSources)[number]>;
  /** JSON text of what identifies it within its source. */
  identity: Fixed<string>;
  /** Found without any device by the last sweep. */
  unusedSince: string | null;
}

/** A patch on a device, with everything that the device said of it. */
export interface DevicePatchesTable {
  /** Those of the device, kept by the database. */
  orgId: Fixed<string>;
  siteId: Fixed<string>;
  deviceId: Fixed<string>;
  patchId: Fixed<string>;
  status: (typeof devicePatchStatuses)[number];
  source: (typeof patchSources)[number];
  osType: "windows" | "macos" | "linux";
  externalId: string | null;
  packageId: string | null;
  title: string;
  /** As titles are ordered and searched: without case, in byte order. */
  titleKey: string;
  vendor: string | null;
  installedVersion: string | null;
  availableVersion: string | null;
  /** Place in `patchSeverities`. */
  severityRank: number;
  category: string | null;
  kbNumber: string | null;
  cveIds: string[];
  requiresRestart: boolean;
  sizeBytes: number | null;
  releaseDate: string | null;
  installedAt: string | null;
  firstSeenAt: Fixed<string>;
  statusChangedAt: string;
}

/** Devices that have said what they lack: one that said nothing yet is not one without pending patches. */
export interface DevicePatchReportsTable {
  orgId: Fixed<string>;
  deviceId: Fixed<string>;
  firstReportedAt: Fixed<string>;
}

export interface SoftwareTables {
  patches: PatchesTable;
  devicePatches: DevicePatchesTable;
  devicePatchReports: DevicePatchReportsTable;
}

export const softwareTables = {
  patches: { owner: "system", writtenBy: "software/patches" },
  devicePatches: {
    owner: "org+site",
    writtenBy: "software/patches",
    booleans: ["requiresRestart"],
    json: ["cveIds"],
  },
  devicePatchReports: { owner: "org", writtenBy: "software/patches" },
} as const satisfies Declared<SoftwareTables>;
