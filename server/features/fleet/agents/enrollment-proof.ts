import { ZERO_UUID } from "#server/audit/chain";
import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { after, DAY } from "#server/platform/clock";
import { sha256 } from "#server/platform/vault";
import { type AdmittingKey, checkSecret, type EnrollCall, refuseClosedTenant } from "./enrollment-key.ts";

const REPEATABLE_MS = DAY;

const proof = ({ body }: EnrollCall): string | null =>
  body.enrollmentNonce === undefined ? null : sha256(`${body.enrollmentNonce}:${body.enrollmentKey}`);

/** By what the same machine gets its device again: the key and the nonce that it alone knows. */
export const proofOf = (call: EnrollCall, key: AdmittingKey) => ({
  enrollmentProof: proof(call),
  enrollmentProofUntil: call.body.enrollmentNonce === undefined ? null : after(call.clock.now(), REPEATABLE_MS),
  enrollmentSecretHash: key.enrollmentSecretHash,
});

/**
 * The device whose enrollment this call repeats: its answer was lost. The key may be used up, rotated, expired or deleted
 * meanwhile; its second secret and the tenant are checked as ever (docs/fleet.md, "Which device enrolls").
 */
export async function findRepeat(call: EnrollCall, tx: Tx) {
  const wanted = proof(call);
  if (wanted === null) return undefined;
  const query = tx
    .selectFrom("devices")
    .select(["id", "orgId", "siteId", "agentId", "status", "deviceRoleSource", "agentTokenHash", "watchdogTokenHash"])
    .select("enrollmentSecretHash")
    .where("enrollmentProof", "=", wanted)
    .where("enrollmentProofUntil", ">", call.clock.now())
    .where("status", "<>", "decommissioned");
  const device = await held(query, call.services.store.dialect).executeTakeFirst();
  if (!device) return undefined;
  call.audit.note({
    owner: { orgId: device.orgId },
    actor: { type: "agent", id: ZERO_UUID },
    siteIds: [device.siteId],
    details: { hostname: call.body.hostname, osType: call.body.osType, repeated: true },
  });
  checkSecret(call, device.enrollmentSecretHash);
  refuseClosedTenant(await tenantOf(tx, device.orgId));
  return device;
}

const tenantOf = (tx: Tx, orgId: string) =>
  tx
    .selectFrom("organizations")
    .innerJoin("partners", "partners.id", "organizations.partnerId")
    .select(["organizations.status as orgStatus", "organizations.deletedAt as orgDeletedAt"])
    .select(["partners.status as partnerStatus", "partners.deletedAt as partnerDeletedAt"])
    .where("organizations.id", "=", orgId)
    .executeTakeFirstOrThrow();
