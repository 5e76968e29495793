import type { Reader } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import { type Caller, orgForCreate, refuseSiteRestricted } from "./org-access.ts";
import { user } from "./principal.ts";

/** Whose a new row is: an organization's, or where `orgId` is null the whole partner's. */
export interface Owner {
  readonly orgId: string | null;
  /** The organization's too. */
  readonly partnerId: string;
}

interface GivenOwner {
  readonly ownerScope: "organization" | "partner";
  readonly orgId?: string | undefined;
  readonly partnerId?: string | undefined;
}

/** Decides whose a new row is (docs/conventions.md, "Owner rule"). */
export async function ownerForCreate(call: Caller, given: GivenOwner, tx: Reader): Promise<Owner> {
  refuseSiteRestricted(call);
  const { ownerScope, orgId, partnerId } = given;
  const who = user(call);
  if (partnerId !== undefined && who.scope !== "system" && partnerId !== who.partnerId)
    throw problem("PARTNER_ACCESS_DENIED");
  if (ownerScope === "organization") {
    const org = await orgForCreate(call, orgId, tx);
    return { orgId: org.id, partnerId: org.partnerId };
  }
  refusePartial(call);
  const id = who.partnerId ?? partnerId;
  if (id === undefined) throw problem("PARTNER_ID_REQUIRED");
  if (who.scope === "system" && !(await tx.selectFrom("partners").select("id").where("id", "=", id).executeTakeFirst()))
    throw problem("PARTNER_ACCESS_DENIED");
  return { orgId: null, partnerId: id };
}

/** What belongs to the whole partner takes full partner access (docs/conventions.md, "Full partner access"). */
export function refusePartial(call: Pick<Caller, "who">): void {
  const { scope, orgAccess } = user(call);
  if (scope === "organization" || (scope === "partner" && orgAccess !== "all"))
    throw problem("FULL_PARTNER_ACCESS_REQUIRED");
}

/** As rows keep it: one of the two, never both. */
export const ownerColumns = ({ orgId, partnerId }: Owner) =>
  orgId === null ? { orgId: null, partnerId } : { orgId, partnerId: null };

/** As answers say it. */
export const ownerScopeOf = ({ orgId }: { readonly orgId: string | null }) =>
  orgId === null ? ("partner" as const) : ("organization" as const);
