import canonicalize from "canonicalize";
import type { SelectQueryBuilder } from "kysely";
import { findOrg } from "#server/access/org-access";
import { partnerPrincipal } from "#server/access/principal";
import { writersDone } from "#server/db/dialect/writers-done";
import type { Call } from "#server/http/call";
import { DAY } from "#server/platform/clock";
import { sha256 } from "#server/platform/vault";
import { problem } from "#server/problem";
import { type ExportCursor, readCursor, signCursor } from "./cursor.ts";
import { secretPaths } from "./looks-secret.ts";

/** The part of a query all exports share. */
interface ExportQuery {
  orgId?: string | undefined;
  siteId?: string | undefined;
  updatedSince?: string | undefined;
  cursor?: string | undefined;
  limit: number;
}

export type ExportCall = Omit<Call, "query"> & { readonly query: ExportQuery };

/** Which rows a page holds. */
export interface Walk {
  readonly orgId: string | undefined;
  readonly siteId: string | undefined;
  readonly updatedSince: string | null;
  readonly snapshotAt: string;
  readonly after: { readonly updatedAt: string; readonly id: string } | undefined;
  readonly take: number;
}

/** Fields of every exported row. */
export interface Sourced {
  id: string;
  orgId: string;
  siteId: string | null;
  sourceUpdatedAt: string;
}

/**
 * One page of an export (docs/credentials.md, "Exports"). The first page fixes `snapshotAt`: a full walk gives every
 * row that existed then, ordered by id, which never changes; an incremental walk every row changed after
 * `updatedSince`, oldest change first. A row that changes during an incremental walk comes with the next one, which
 * starts at this `snapshotAt`.
 */
export async function exportPage<R extends Sourced>(
  call: ExportCall,
  resource: string,
  rowsOf: (walk: Walk) => Promise<R[]>,
) {
  const startedMs = call.clock.nowMs();
  const { orgId, siteId, updatedSince, limit } = call.query;
  const filters = { orgId: orgId ?? null, siteId: siteId ?? null };
  const { partnerId } = partnerPrincipal(call);
  const given = call.query.cursor || undefined;
  const cursor = given && readCursor(call, given, { resource, partnerId, filters, updatedSince });
  await refuseOutOfReach(call, orgId, siteId);
  const since = cursor ? cursor.updatedSince : (updatedSince ?? null);
  const snapshotAt = cursor ? cursor.snapshotAt : await momentOf(call);
  const after = cursor ? { updatedAt: cursor.lastUpdatedAt, id: cursor.lastId } : undefined;
  const found = await rowsOf({ orgId, siteId, updatedSince: since, snapshotAt, after, take: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const hasMore = found.length > limit;
  const next: ExportCursor | undefined =
    hasMore && last
      ? {
          v: 1,
          resource,
          partnerId,
          snapshotAt,
          updatedSince: since,
          filters,
          lastUpdatedAt: last.sourceUpdatedAt,
          lastId: last.id,
          expiresAt: new Date(Date.parse(snapshotAt) + DAY).toISOString(),
        }
      : undefined;
  const { data, blocked } = withheld(resource, rows);
  const durationMs = call.clock.nowMs() - startedMs;
  call.audit.note({ details: { resource, recordCount: data.length, httpStatus: 200, durationMs } });
  const nextCursor = next ? signCursor(call, next) : null;
  return {
    schemaVersion: "1" as const,
    snapshotAt,
    data,
    nextCursor,
    hasMore,
    ...(blocked.length > 0 ? { blocked } : {}),
  };
}

/**
 * The current time, after transactions under way have ended: a row stamped before it must not appear after it was read.
 */
async function momentOf(call: ExportCall): Promise<string> {
  const now = call.clock.now();
  await writersDone(call.services.store);
  return now;
}

/** 404 for an unknown filter, or one out of the principal's reach (docs/conventions.md, "Foreign ids"). */
async function refuseOutOfReach(call: ExportCall, orgId: string | undefined, siteId: string | undefined) {
  if (orgId !== undefined && !(await findOrg(call, orgId))) throw problem("NOT_FOUND");
  if (siteId === undefined) return;
  let site = call.db.selectFrom("sites").select("id").where("id", "=", siteId);
  if (orgId !== undefined) site = site.where("orgId", "=", orgId);
  if (!(await site.executeTakeFirst())) throw problem("NOT_FOUND");
}

function withheld<R extends Sourced>(resource: string, rows: readonly R[]) {
  const checked = rows.map((row) => ({ row, fieldPaths: secretPaths(row) }));
  return {
    data: checked.filter(({ fieldPaths }) => fieldPaths.length === 0).map(({ row }) => revised(row)),
    blocked: checked
      .filter(({ fieldPaths }) => fieldPaths.length > 0)
      .map(({ row, fieldPaths }) => {
        const { id, orgId } = row;
        return { resource, id, orgId, reason: "secret_detected" as const, fieldPaths };
      }),
  };
}

/** The row with a hash of itself: equal hashes, equal rows. */
export const revised = <R extends Sourced>(row: R) => ({ ...row, revision: sha256(canonicalize(row) as string) });

/** Narrows a query to a page of a walk over `table`, in the walk's order. */
export function walked<O>(
  // biome-ignore lint/suspicious/noExplicitAny: the walk is written for any table that has these columns
  query: SelectQueryBuilder<any, any, O>,
  table: "organizations" | "sites" | "devices",
  walk: Walk,
): SelectQueryBuilder<never, never, O> {
  const [id, createdAt, updatedAt] = [`${table}.id`, `${table}.createdAt`, `${table}.updatedAt`];
  const { snapshotAt, updatedSince, after } = walk;
  let page = query.limit(walk.take);
  if (walk.orgId !== undefined) page = page.where(table === "organizations" ? id : `${table}.orgId`, "=", walk.orgId);
  if (walk.siteId !== undefined) page = page.where(`${table}.siteId`, "=", walk.siteId);
  if (updatedSince === null) {
    if (after) page = page.where(id, ">", after.id);
    return page.where(createdAt, "<=", snapshotAt).orderBy(id) as never;
  }
  if (after) {
    page = page.where((eb) =>
      eb.or([
        eb(updatedAt, ">", after.updatedAt),
        eb.and([eb(updatedAt, "=", after.updatedAt), eb(id, ">", after.id)]),
      ]),
    );
  }
  page = page.where(updatedAt, ">", updatedSince).where(updatedAt, "<=", snapshotAt);
  return page.orderBy(updatedAt).orderBy(id) as never;
}
