import type { Endpoint } from "#contract/core/endpoint";
import type { organizations } from "#contract/resources/organizations";
import { lockRow } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { type Call, user } from "#server/http/call";
import { invalid, problem } from "#server/problem";
import { getOrganization, slugIsTaken } from "./queries.ts";

type CreateCall = typeof organizations.create extends Endpoint<infer T> ? Call<T> : never;

const RETENTION_DAYS_DEFAULT = 365;

/**
 * Creates an organization with its audit retention (contract 1 C2). The partner's cap is counted under
 * a lock, so parallel creates cannot pass it.
 */
export async function createOrganization(call: CreateCall) {
  const { partnerId: _named, ...fields } = call.body;
  refuseEndBeforeStart(fields);
  const partnerId = partnerOf(call);
  return call.transaction(async (tx) => {
    await lockRow(tx, call.services.store.dialect, "partners", partnerId);
    await call.asSystem("count against caps", async (all) => {
      await refuseOverCap(all, partnerId);
      if (await slugIsTaken(all, partnerId, fields.slug)) throw problem("SLUG_TAKEN");
    });
    const id = call.random.uuid();
    const now = call.clock.now();
    await tx
      .insertInto("organizations")
      .values({
        id,
        partnerId,
        ...fields,
        ssoConfig: {},
        offboardingStartedAt: null,
        offboardingTarget: null,
        archivedAt: null,
        retentionMode: null,
        purgeAt: null,
        mergedIntoOrgId: null,
        createdAt: now,
        updatedAt: now,
        deletedAt: null,
      })
      .execute();
    await grantToCreator(call, tx, partnerId, id);
    if (call.scope.kind === "partner") call.scope.known.add(id);
    await tx
      .insertInto("auditRetention")
      .values({ orgId: id, retentionDays: RETENTION_DAYS_DEFAULT, lastCleanupAt: null, createdAt: now, updatedAt: now })
      .execute();
    call.audit.note({
      resource: { id, name: fields.name },
      owner: { orgId: id },
      details: { partnerId, status: fields.status, type: fields.type },
    });
    return getOrganization(tx, id);
  });
}

/** Partner scope implies the partner, system scope names it (specification 1, "Organizations"). */
function partnerOf(call: CreateCall): string {
  const who = user(call);
  const named = call.body.partnerId;
  if (who.scope === "system") {
    if (named === undefined) throw problem("PARTNER_ID_REQUIRED");
    return named;
  }
  if (who.partnerId === null) throw problem("PARTNER_CONTEXT_REQUIRED");
  if (named !== undefined && named !== who.partnerId) throw problem("PARTNER_ACCESS_DENIED");
  if (who.orgAccess === "none") throw problem("FORBIDDEN");
  return who.partnerId;
}

async function refuseOverCap(tx: Tx, partnerId: string): Promise<void> {
  const partner = await tx
    .selectFrom("partners")
    .select("maxOrganizations")
    .where("id", "=", partnerId)
    .where("deletedAt", "is", null)
    .executeTakeFirst();
  if (!partner) throw problem("NOT_FOUND");
  if (partner.maxOrganizations === null) return;
  const { count } = await tx
    .selectFrom("organizations")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("partnerId", "=", partnerId)
    .where("deletedAt", "is", null)
    .executeTakeFirstOrThrow();
  if (Number(count) >= partner.maxOrganizations) {
    throw problem("ORG_LIMIT_REACHED", { details: { current: Number(count), max: partner.maxOrganizations } });
  }
}

/** A creator confined to selected organizations reaches the one it made. */
async function grantToCreator(call: CreateCall, tx: Tx, partnerId: string, orgId: string): Promise<void> {
  const who = user(call);
  if (who.orgAccess !== "selected" || who.membershipId === null) return;
  await tx.insertInto("partnerUserOrgs").values({ partnerId, membershipId: who.membershipId, orgId }).execute();
}

export function refuseEndBeforeStart(contract: { contractStart?: string | null; contractEnd?: string | null }): void {
  const { contractStart, contractEnd } = contract;
  if (contractStart && contractEnd && contractEnd < contractStart) {
    throw invalid({ path: "contractEnd", message: "contractEnd must not be before contractStart" });
  }
}
