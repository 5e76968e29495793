import canonicalize from "canonicalize";
import { findOrg } from "#server/access/org-access";
import { partnerPrincipal } from "#server/access/principal";
import { settledMoment } from "#server/db/dialect/settled-moment";
import type { Reader } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { DAY, after as later } from "#server/platform/clock";
import { sha256 } from "#server/platform/vault";
import { problem } from "#server/problem";
import { type ExportCursor, readCursor, signCursor } from "./cursor.ts";
import { type ExportedResource, type FeedEntry, feed } from "./feed.ts";
import { REMOVALS_KEPT_MS } from "./forget-removals.ts";
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

/** Fields of every exported row. */
export interface Sourced extends Omit<FeedEntry, "orgId" | "removed"> {
  readonly orgId: string;
}

/** What a page holds of rows that are there, by id. */
export type RowsOf<R> = (db: Reader, entries: readonly FeedEntry[]) => Promise<ReadonlyMap<string, R>>;

/**
 * One page of an export (docs/credentials.md, "Exports"). The first page fixes `snapshotAt`: a full walk gives every
 * row that existed then, ordered by id, which never changes; an incremental walk every row changed after
 * `updatedSince`, oldest change first, and those that went away. A row that changes during an incremental walk comes
 * with the next one, which starts at this `snapshotAt`.
 */
export async function exportPage<R>(call: ExportCall, resource: ExportedResource, rowsOf: RowsOf<R>) {
  const startedMs = call.clock.nowMs();
  const { orgId, siteId, limit } = call.query;
  const position = await positionOf(call, resource);
  const found = await feed(call, { ...position, resource, orgId, siteId, take: limit + 1 });
  const page = found.slice(0, limit);
  const hasMore = found.length > limit;
  const { data, blocked } = withheld(resource, await readAll(call, page, rowsOf));
  const durationMs = call.clock.nowMs() - startedMs;
  call.audit.note({ details: { resource, recordCount: data.length, httpStatus: 200, durationMs } });
  const last = page.at(-1);
  return {
    schemaVersion: "1" as const,
    snapshotAt: position.snapshotAt,
    data,
    nextCursor: hasMore && last ? signCursor(call, next(call, resource, position, last)) : null,
    hasMore,
    ...(blocked.length > 0 ? { blocked } : {}),
  };
}

interface Position {
  readonly snapshotAt: string;
  readonly updatedSince: string | null;
  readonly after: { readonly updatedAt: string; readonly id: string } | undefined;
  /** Of the walk's cursors. */
  readonly expiresAt: string;
}

const filtersOf = ({ query: { orgId, siteId } }: ExportCall) => ({ orgId: orgId ?? null, siteId: siteId ?? null });

/** Where the walk stands: behind the cursor, or at its beginning, which is now. */
async function positionOf(call: ExportCall, resource: ExportedResource): Promise<Position> {
  const { orgId, siteId, updatedSince } = call.query;
  const { partnerId } = partnerPrincipal(call);
  const given = call.query.cursor || undefined;
  const cursor = given && readCursor(call, given, { resource, partnerId, filters: filtersOf(call), updatedSince });
  await refuseOutOfReach(call, orgId, siteId);
  if (cursor) {
    const { snapshotAt, expiresAt, lastUpdatedAt, lastId } = cursor;
    const after = { updatedAt: lastUpdatedAt, id: lastId };
    return { snapshotAt, expiresAt, updatedSince: cursor.updatedSince, after };
  }
  const snapshotAt = await settledMoment(call.services.store);
  if (updatedSince !== undefined && updatedSince < later(snapshotAt, -REMOVALS_KEPT_MS)) throw problem("SINCE_TOO_OLD");
  const expiresAt = later(call.clock.now(), DAY);
  return { snapshotAt, expiresAt, updatedSince: updatedSince ?? null, after: undefined };
}

function next(call: ExportCall, resource: ExportedResource, at: Position, last: FeedEntry): ExportCursor {
  const { snapshotAt, updatedSince, expiresAt } = at;
  const { partnerId } = partnerPrincipal(call);
  const position = { lastUpdatedAt: last.sourceUpdatedAt, lastId: last.id };
  return { v: 1, resource, partnerId, snapshotAt, updatedSince, filters: filtersOf(call), ...position, expiresAt };
}

/** 404 for an unknown filter, or one out of the principal's reach (docs/conventions.md, "Foreign ids"). */
async function refuseOutOfReach(call: ExportCall, orgId: string | undefined, siteId: string | undefined) {
  if (orgId !== undefined && !(await findOrg(call, orgId))) throw problem("NOT_FOUND");
  if (siteId === undefined) return;
  let site = call.db.selectFrom("sites").select("id").where("id", "=", siteId);
  if (orgId !== undefined) site = site.where("orgId", "=", orgId);
  if (!(await site.executeTakeFirst())) throw problem("NOT_FOUND");
}

type Removed = Sourced & { readonly removed: true };
type Shown<R> = (Sourced & R) | Removed;

/** The rows of a page. One that went away since the page was found is left out: the next walk tells it. */
async function readAll<R>(call: ExportCall, page: readonly FeedEntry[], rowsOf: RowsOf<R>): Promise<Shown<R>[]> {
  const there = page.filter((entry) => !entry.removed);
  const rows = there.length === 0 ? new Map<string, R>() : await rowsOf(call.db, there);
  return page.flatMap((entry): Shown<R>[] => {
    if (entry.removed) return [{ ...sourcedOf(entry), removed: true }];
    const row = rows.get(entry.id);
    return row === undefined ? [] : [{ ...sourcedOf(entry), ...row }];
  });
}

/** Rows of a whole partner have no organization, as their own fields say. */
const sourcedOf = ({ id, orgId, siteId, sourceUpdatedAt }: FeedEntry): Sourced => ({
  id,
  orgId: orgId as string,
  siteId,
  sourceUpdatedAt,
});

function withheld<R>(resource: string, rows: readonly Shown<R>[]) {
  const checked = rows.map((row) => ({ row, fieldPaths: secretPaths(row) }));
  return {
    data: checked.filter(({ fieldPaths }) => fieldPaths.length === 0).map(({ row }) => stamped(row)),
    blocked: checked
      .filter(({ fieldPaths }) => fieldPaths.length > 0)
      .map(({ row, fieldPaths }) => {
        const { id, orgId } = row;
        return { resource, id, orgId, reason: "secret_detected" as const, fieldPaths };
      }),
  };
}

const stamped = <R>(row: Shown<R>) => ("removed" in row ? (row as Removed) : revised(row));

/** The row with a hash of itself: equal hashes, equal rows. */
export const revised = <R extends object>(row: R) => ({ ...row, revision: sha256(canonicalize(row) as string) });

/** The row that a write has made, as the export has it. */
export const exportedRow = <R>(entry: FeedEntry, row: R) => revised({ ...sourcedOf(entry), ...row });
