import { expressionBuilder, type Kysely } from "kysely";
import { outsideSites } from "#server/access/org-access";
import { prepared } from "#server/db/prepared";
import type { Database } from "#server/db/tables";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { after, MINUTE } from "#server/platform/clock";
import { problem } from "#server/problem";
import { shownColumns } from "./columns.ts";

/**
 * A column of the device that a request is about, null where the caller does not see it. Looked up for each row: joined,
 * Postgres may read all devices in the order of their ids.
 */
export const ofDevice = <C extends "id" | "siteId">(column: C) =>
  expressionBuilder<Database, "elevationRequests">()
    .selectFrom("devices")
    .select(`devices.${column}`)
    .whereRef("devices.id", "=", "elevationRequests.deviceId")
    .whereRef("devices.orgId", "=", "elevationRequests.orgId");

const nameOfSite = () =>
  expressionBuilder<Database, "elevationRequests">()
    .selectFrom("sites")
    .innerJoin("devices", (join) =>
      join.onRef("devices.siteId", "=", "sites.id").onRef("devices.orgId", "=", "sites.orgId"),
    )
    .select("sites.name")
    .whereRef("devices.id", "=", "elevationRequests.deviceId")
    .whereRef("devices.orgId", "=", "elevationRequests.orgId");

/** Requests as they are shown, with where their devices stand today. */
export const shown = (db: Kysely<Database> | Reader) =>
  (db as Reader)
    .selectFrom("elevationRequests")
    .select(shownColumns)
    .select([ofDevice("siteId").as("siteId"), nameOfSite().as("siteName")]);

export const isConfined = ({ who }: Pick<Call, "who">): boolean => who.kind === "user" && who.allowedSiteIds !== null;

/**
 * A request that the caller reaches: 404 outside the tenant, 403 where the device does not stand at a site of theirs
 * today (docs/conventions.md, "Site rule").
 */
export async function getElevation(call: Pick<Call, "who">, db: Reader, id: string) {
  const row = await byId(db, { id });
  if (!row) throw problem("NOT_FOUND");
  // The site is read in the caller's own scope: one that is not theirs reads null.
  if (outsideSites(call, row.siteId)) throw problem("SITE_ACCESS_DENIED");
  return row;
}

const byId = prepared(["id"], (db, at) => shown(db).where("elevationRequests.id", "=", at.id));

type Waiting = { readonly status: string; readonly requestedAt: string };

/** The row with when it stops waiting (docs/elevation-requests.md, "States"). */
export const withWait =
  ({ config }: Pick<Call, "config">) =>
  <R extends Waiting>(row: R): R & { waitsUntil: string | null } => ({
    ...row,
    waitsUntil: row.status === "pending" ? after(row.requestedAt, config.pamPendingTtlMinutes * MINUTE) : null,
  });

export type ShownElevation = Awaited<ReturnType<typeof getElevation>>;
