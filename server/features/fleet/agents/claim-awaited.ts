import { held } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { problem } from "#server/problem";
import { type EnrolledDevice, newAgentId, rekey } from "./enroll-device.ts";
import type { AdmittingKey, EnrollCall } from "./enrollment-key.ts";
import { proofOf } from "./enrollment-proof.ts";
import { refuseQuarantinedNamesake } from "./quarantined-namesake.ts";
import type { TokenPair } from "./tokens.ts";

/** Gives the row that awaits this machine its agent, once (docs/fleet.md, "Provisioning"). */
export async function claimAwaited(
  call: EnrollCall,
  tx: Tx,
  { key, pair }: { key: AdmittingKey; pair: TokenPair },
): Promise<EnrolledDevice> {
  const query = tx
    .selectFrom("devices")
    .select(["id", "orgId", "siteId", "status", "deviceRoleSource", "agentTokenHash", "watchdogTokenHash"])
    .where("provisionKeyHash", "=", key.keyHash)
    .where("orgId", "=", key.orgId)
    .where("status", "=", "pending");
  const device = await held(query, call.services.store.dialect).executeTakeFirst();
  if (!device) throw problem("ENROLLMENT_KEY_EXHAUSTED");
  await refuseQuarantinedNamesake(call, tx, key.orgId);
  const agentId = newAgentId(call);
  const more = { ...proofOf(call, key), agentId, enrolledAt: call.clock.now() };
  return rekey(call, tx, { device: { ...device, agentId }, pair, siteId: device.siteId as string, more });
}
