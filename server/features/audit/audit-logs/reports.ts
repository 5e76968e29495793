import type { Endpoint } from "#contract/core/endpoint";
import type { auditLogs } from "#contract/resources/audit/audit-logs";
import type { Call } from "#server/http/call";
import { namesOfActors } from "./actors.ts";
import { type AuditFilters, askedOf, rowsOfPage } from "./queries.ts";
import { isCompliance, isDataChange, isLogin } from "./report-actions.ts";
import { type Counted, countedEntries } from "./report-queries.ts";
import { categoryOf, fullEntry } from "./view.ts";

type UsersCall = typeof auditLogs.userActivity extends Endpoint<infer T> ? Call<T> : never;
type SecurityCall = typeof auditLogs.securityEvents extends Endpoint<infer T> ? Call<T> : never;
type ComplianceCall = typeof auditLogs.compliance extends Endpoint<infer T> ? Call<T> : never;
type StatsCall = typeof auditLogs.stats extends Endpoint<infer T> ? Call<T> : never;

/** Entries that one report reads; it says when there were more (docs/audit.md, "Reports"). */
export const COUNTED_MAX = 5_000;
const TOP = 5;
const RECENT = 10;

/** Who did how much. */
export async function reportUserActivity(call: UsersCall) {
  const { rows, capped } = await readCounted(call, call.query, "people");
  const users = await usersOf(call, rows);
  return {
    totalUsers: users.length,
    totalEvents: rows.length,
    actionsPerUser: users,
    topUsers: users.slice(0, TOP),
    recentActivity: await recent(call, rows),
    ...capped,
  };
}

/** Sign-ins, permissions and policies. */
export async function reportSecurityEvents(call: SecurityCall) {
  const { rows, capped } = await readCounted(call, call.query, "security");
  const logins = rows.filter(({ action }) => isLogin(action));
  return {
    totalEvents: rows.length,
    loginAttempts: logins.length,
    failedLogins: logins.filter(({ action, result }) => action === "user.login.failed" || result !== "success").length,
    permissionChanges: rows.filter(({ action }) => action === "user.permission.change").length,
    byAction: countedBy(rows, "action", ({ action }) => action),
    recentEvents: await recent(call, rows),
    ...capped,
  };
}

/** Data that was read, changed and exported. */
export async function reportCompliance(call: ComplianceCall) {
  const { rows, capped } = await readCounted(call, call.query, "compliance");
  const events = rows.filter(({ action }) => isCompliance(action));
  const countOf = (wanted: string) => rows.filter(({ action }) => action === wanted).length;
  return {
    totalEvents: events.length,
    dataAccess: countOf("data.access"),
    dataChanges: rows.filter(({ action }) => isDataChange(action)).length,
    exports: countOf("data.export"),
    byAction: countedBy(events, "action", ({ action }) => action),
    recentEvents: await recent(call, events),
    ...capped,
  };
}

/** All entries by category and by person. */
export async function reportStats(call: StatsCall) {
  const { from = null, to = null } = call.query;
  const { rows, capped } = await readCounted(call, call.query, "all");
  const users = await usersOf(call, rows.filter(isByPerson));
  return {
    totalEvents: rows.length,
    byCategory: countedBy(rows, "category", ({ action }) => categoryOf(action)),
    byUser: users.map(({ userId, userName, actionCount }) => ({ userId, userName, actionCount })),
    range: { from, to },
    ...capped,
  };
}

type Row = Awaited<ReturnType<typeof countedEntries>>[number];

async function readCounted(call: Call, filters: AuditFilters, counted: Counted) {
  const asked = { ...(await askedOf(call, filters)), limit: COUNTED_MAX + 1 };
  const found = await countedEntries(call.db, asked, { dialect: call.services.store.dialect, counted });
  const rows = found.slice(0, COUNTED_MAX);
  return { rows, capped: { truncated: found.length > rows.length, oldest: rows.at(-1)?.timestamp ?? null } };
}

const isByPerson = ({ actorType }: Row) => actorType === "user" || actorType === "api_key";

/** One line per person or key, the busiest first; their name and address are those of their newest entry. */
async function usersOf(call: Call, rows: readonly Row[]) {
  const newest = new Map<string, Row>();
  const counts = new Map<string, number>();
  for (const row of rows) {
    const key = `${row.actorType} ${row.actorId}`;
    if (!newest.has(key)) newest.set(key, row);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const nameOf = await namesOfActors(call, [...newest.values()]);
  const users = [...newest].map(([key, row]) => ({
    userId: row.actorId ?? "",
    userName: typeof row.nameThen === "string" ? row.nameThen : nameOf(row),
    userEmail: row.actorEmail,
    actionCount: counts.get(key) as number,
    lastActiveAt: row.timestamp,
  }));
  return users.toSorted((a, b) => b.actionCount - a.actionCount || (a.userId < b.userId ? -1 : 1));
}

function countedBy<N extends string, V extends string>(rows: readonly Row[], name: N, of: (row: Row) => V) {
  const counts = new Map<V, number>();
  for (const row of rows) counts.set(of(row), (counts.get(of(row)) ?? 0) + 1);
  return [...counts]
    .map(([value, count]) => ({ [name]: value, count }) as Record<N, V> & { count: number })
    .toSorted((a, b) => b.count - a.count || (a[name] < b[name] ? -1 : 1));
}

async function recent(call: Call, rows: readonly Row[]) {
  const ids = rows.slice(0, RECENT).map(({ id }) => id);
  const found = ids.length === 0 ? [] : await rowsOfPage(call.db, { ids }, null);
  const nameOf = await namesOfActors(call, found);
  return found.map((row) => fullEntry(row, nameOf));
}
