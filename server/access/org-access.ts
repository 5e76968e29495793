import { type Expression, type ExpressionBuilder, expressionBuilder, type SqlBool } from "kysely";
import { word } from "#server/db/dialect/text";
import { prepared } from "#server/db/prepared";
import type { Scope } from "#server/db/scope";
import type { Database } from "#server/db/tables";
import type { OrganizationStatus } from "#server/db/tables/tenancy";
import type { Reader } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import { type Principal, user } from "./principal.ts";

/** What access decisions need of a call. */
export interface Caller {
  readonly who: Principal;
  readonly scope: Scope;
  readonly db: Reader;
}

/**
 * Statuses in which an organization's data can be read but not written
 * (docs/conventions.md, "Read-only organizations").
 */
const readOnlyStatuses: readonly OrganizationStatus[] = ["offboarding", "archived", "merging", "purging", "churned"];

export interface AccessibleOrg {
  id: string;
  name: string;
  partnerId: string;
  status: OrganizationStatus;
  settings: Record<string, unknown>;
}

/** The organization if the caller reaches it, including those that lists hide (docs/conventions.md, "Tenant reach"). */
export async function findOrg(call: Caller, orgId: string, db: Reader = call.db): Promise<AccessibleOrg | undefined> {
  const org = await byId(db, { id: orgId });
  // From here on rows may be inserted for it in this request (see the tenant scope).
  if (org && call.scope.kind === "partner") call.scope.known.add(org.id);
  return org;
}

const byId = prepared(["id"], (db, at) =>
  db.selectFrom("organizations").select(["id", "name", "partnerId", "status", "settings"]).where("id", "=", at.id),
);

/** An explicit `orgId` that the caller does not reach is 403, whether it exists or not. */
export async function getNamedOrg(call: Caller, orgId: string, db?: Reader): Promise<AccessibleOrg> {
  const org = await findOrg(call, orgId, db);
  if (!org) throw problem("ORG_ACCESS_DENIED");
  return org;
}

/** Refuses a write while the organization is being wound down (409 `ORG_READ_ONLY`). */
export function refuseReadOnly(org: { status: OrganizationStatus }): void {
  if (readOnlyStatuses.includes(org.status)) throw problem("ORG_READ_ONLY", { details: { status: org.status } });
}

/** Refuses enrollment keys for a suspended organization (403 `ORG_SUSPENDED`). */
export function refuseSuspended(org: { status: OrganizationStatus }): void {
  if (org.status === "suspended") throw problem("ORG_SUSPENDED");
}

/** The organization of a row the caller already reached, ready to be written. */
export async function getWritableOrg(call: Caller, orgId: string, db?: Reader): Promise<AccessibleOrg> {
  const org = await findOrg(call, orgId, db);
  if (!org) throw problem("NOT_FOUND");
  refuseReadOnly(org);
  return org;
}

/**
 * The organization that a new row belongs to (docs/conventions.md, "Organization rule"): the caller's own in
 * organization scope, the named one in partner and system scope.
 */
export async function orgForCreate(call: Caller, orgId: string | undefined, db?: Reader): Promise<AccessibleOrg> {
  const org = await orgByRule(call, orgId, db);
  refuseReadOnly(org);
  return org;
}

/** The same of what is only read. */
export async function orgByRule(call: Caller, orgId: string | undefined, db?: Reader): Promise<AccessibleOrg> {
  const who = user(call);
  if (who.scope === "organization") {
    if (who.orgId === null) throw problem("ORG_CONTEXT_REQUIRED");
    if (orgId !== undefined && orgId !== who.orgId) throw problem("ORG_ACCESS_DENIED");
  } else if (orgId === undefined) {
    throw problem("ORG_ID_REQUIRED", { message: `orgId is required for ${who.scope} scope` });
  }
  return getNamedOrg(call, (who.scope === "organization" ? who.orgId : orgId) as string, db);
}

/**
 * Refuses callers confined to sites where a row of the whole organization is written
 * (docs/conventions.md, "Site rule").
 */
export function refuseSiteRestricted(call: Pick<Caller, "who">): void {
  if (call.who.kind === "user" && call.who.allowedSiteIds !== null) throw problem("SITE_ACCESS_DENIED");
}

/** Whether the caller is confined to sites and this row is outside them. */
export function outsideSites(call: Pick<Caller, "who">, siteId: string | null): boolean {
  const allowed = call.who.kind === "user" ? call.who.allowedSiteIds : null;
  return allowed !== null && (siteId === null || !allowed.includes(siteId));
}

/** Leaves out organizations that lists hide (docs/tenancy.md, "Organization status"). */
export function visibleInLists(eb: ExpressionBuilder<Database, "organizations">): Expression<SqlBool> {
  return eb.and([
    eb("organizations.status", "not in", [word("archived"), word("purging")]),
    eb.or([
      eb("organizations.status", "<>", word("offboarding")),
      eb("organizations.offboardingTarget", "is distinct from", word("archived")),
    ]),
  ]);
}

/**
 * The organizations whose rows a list shows: the one that is named, which `getNamedOrg` has let through, else all that
 * the caller reaches except hidden ones.
 */
export function orgsInList(orgId: string | undefined) {
  // Built without a handle: the outer query narrows it to the caller's scope.
  const all = expressionBuilder<Database, never>().selectFrom("organizations").select("organizations.id");
  return orgId === undefined ? all.where(visibleInLists) : all.where("organizations.id", "=", orgId);
}

/** The organizations that lists hide, among those that the caller reaches: of thousands a few. */
const orgsNotInLists = () =>
  expressionBuilder<Database, never>()
    .selectFrom("organizations")
    .select("organizations.id")
    .where((eb) => eb.not(visibleInLists(eb)));

/** Devices of organizations that lists do not hide. Where none is hidden, no device is asked for its organization. */
export const isOfOrgInLists = (eb: ExpressionBuilder<Database, "devices">): Expression<SqlBool> =>
  eb.or([eb.not(eb.exists(orgsNotInLists())), eb("devices.orgId", "not in", orgsNotInLists())]);
