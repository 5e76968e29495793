import type { Selectable } from "kysely";
import type { z } from "zod";
import {
  type InstalledPatchReport,
  type PendingPatchReport,
  patchSeverities,
} from "#contract/resources/software/patches";
import type { DevicePatchesTable } from "#server/db/tables/software";
import { identityOf, patchIdOf } from "./identity.ts";

type Pending = z.output<ReturnType<typeof PendingPatchReport>>;
type Installed = z.output<ReturnType<typeof InstalledPatchReport>>;

/** What a device says of its patches; a section that it leaves out stays as it is. */
export interface Reported {
  readonly pending?: readonly Pending[] | undefined;
  readonly installed?: readonly Installed[] | undefined;
  /** `pending` is all that waits. */
  readonly full: boolean;
}

type Row = Selectable<DevicePatchesTable>;
/** A row without whose it is and since when. */
export type Facts = Omit<Row, "orgId" | "siteId" | "deviceId" | "osType" | "firstSeenAt" | "statusChangedAt">;
type Stored = ReadonlyMap<string, Facts>;

/** What the device's rows become, by patch: those that the report says nothing of are not among them. */
export function reportedRows({ pending, installed, full }: Reported, stored: Stored): Map<string, ReportedRow> {
  const rows = new Map<string, ReportedRow>();
  for (const item of pending ?? []) {
    const { patchId, identity } = named(item);
    if (!rows.has(patchId)) rows.set(patchId, { identity, facts: pendingRow(item, patchId, stored.get(patchId)) });
  }
  for (const item of installed ?? []) {
    const { patchId, identity } = named(item);
    const known = rows.get(patchId);
    if (known === undefined) rows.set(patchId, { identity, facts: installedRow(item, patchId, stored.get(patchId)) });
    // An older version is installed, a newer one waits.
    else if (known.facts.status === "pending" && !known.isInstalledToo)
      rows.set(patchId, {
        ...known,
        isInstalledToo: true,
        facts: {
          ...known.facts,
          installedVersion: item.version ?? known.facts.installedVersion,
          installedAt: item.installedAt ?? null,
        },
      });
  }
  if (full && pending !== undefined)
    for (const [patchId, facts] of stored)
      if (facts.status === "pending" && !rows.has(patchId))
        rows.set(patchId, { facts: { ...facts, status: "missing" } });
  return rows;
}

export interface ReportedRow {
  readonly facts: Facts;
  /** Of what the device says itself. */
  readonly identity?: string;
  readonly isInstalledToo?: boolean;
}

function named(item: Pending | Installed) {
  const identity = identityOf(item);
  return { identity, patchId: patchIdOf(item.source, identity) };
}

function pendingRow(item: Pending, patchId: string, old: Facts | undefined): Facts {
  return {
    ...common(item, patchId),
    status: "pending",
    vendor: item.vendor ?? null,
    installedVersion: item.currentVersion ?? old?.installedVersion ?? null,
    availableVersion: item.version ?? null,
    severityRank: patchSeverities.indexOf(item.severity ?? "unknown"),
    category: item.category ?? null,
    kbNumber: item.kbNumber ?? null,
    cveIds: [...new Set(item.cveIds)].toSorted(),
    requiresRestart: item.requiresRestart ?? false,
    sizeBytes: item.sizeBytes ?? null,
    releaseDate: item.releaseDate ?? null,
    installedAt: old?.installedAt ?? null,
  };
}

/** What was said of it while it waited stays known. */
function installedRow(item: Installed, patchId: string, old: Facts | undefined): Facts {
  const told = common(item, patchId);
  return {
    ...told,
    packageId: told.packageId ?? old?.packageId ?? null,
    status: "installed",
    vendor: old?.vendor ?? null,
    installedVersion: item.version ?? null,
    availableVersion: null,
    severityRank: old?.severityRank ?? 0,
    category: old?.category ?? null,
    kbNumber: old?.kbNumber ?? null,
    cveIds: old?.cveIds ?? [],
    requiresRestart: old?.requiresRestart ?? false,
    sizeBytes: old?.sizeBytes ?? null,
    releaseDate: old?.releaseDate ?? null,
    installedAt: item.installedAt ?? old?.installedAt ?? null,
  };
}

const common = ({ source, externalId, packageId, title }: Pending | Installed, patchId: string) => ({
  patchId,
  source,
  externalId: externalId ?? null,
  packageId: packageId ?? null,
  title,
  titleKey: title.toLowerCase(),
});
