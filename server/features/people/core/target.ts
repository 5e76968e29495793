import { type Caller, getNamedOrg } from "#server/access/org-access";
import type { Reader } from "#server/db/unit-of-work";
import { user } from "#server/http/call";
import { invalid, problem } from "#server/problem";

/** The tenant whose members a request is about (docs/people.md, "Whose members"). */
export type Target =
  | { readonly kind: "partner"; readonly partnerId: string; readonly name: string }
  | {
      readonly kind: "organization";
      readonly orgId: string;
      readonly partnerId: string;
      readonly name: string;
      readonly status: Awaited<ReturnType<typeof getNamedOrg>>["status"];
    };

export interface NamedTarget {
  orgId?: string | undefined;
  partnerId?: string | undefined;
}

/**
 * O: the own organization, and no other. P: the own partner, which takes full partner access, or with
 * `orgId` that organization. S: must name one. A `partnerId` beside it must be the organization's own: acting on one
 * of two tenants that were named would be a guess.
 */
export async function targetOf(call: Caller, named: NamedTarget, db: Reader = call.db): Promise<Target> {
  const who = user(call);
  if (who.scope !== "system" && named.partnerId !== undefined && named.partnerId !== who.partnerId) {
    throw problem("FORBIDDEN");
  }
  if (who.scope === "organization") {
    if (who.orgId === null) throw problem("ORG_CONTEXT_REQUIRED");
    if (named.orgId !== undefined && named.orgId !== who.orgId) throw problem("ORG_ACCESS_DENIED");
    return organization(call, who.orgId, db);
  }
  if (named.orgId !== undefined) {
    const found = await organization(call, named.orgId, db);
    if (named.partnerId === undefined || named.partnerId === found.partnerId) return found;
    throw invalid({ path: "partnerId", message: "partnerId and orgId name different tenants" });
  }
  if (who.scope === "system") {
    if (named.partnerId === undefined) {
      throw problem("PARTNER_ID_REQUIRED", { message: "orgId or partnerId is required for system scope" });
    }
    return partner(named.partnerId, db);
  }
  if (who.orgAccess !== "all") throw problem("FULL_PARTNER_ACCESS_REQUIRED");
  return partner(who.partnerId as string, db);
}

/** The chain of what is done to the target's members. */
export const targetOwner = (target: Target) =>
  target.kind === "organization" ? { orgId: target.orgId } : { partnerId: target.partnerId };

async function organization(call: Caller, orgId: string, db: Reader): Promise<Target & { kind: "organization" }> {
  const { id, partnerId, name, status } = await getNamedOrg(call, orgId, db);
  return { kind: "organization", orgId: id, partnerId, name, status };
}

async function partner(partnerId: string, db: Reader): Promise<Target> {
  const row = await db.selectFrom("partners").select(["id", "name"]).where("id", "=", partnerId).executeTakeFirst();
  if (!row) throw problem("NOT_FOUND");
  return { kind: "partner", partnerId: row.id, name: row.name };
}
