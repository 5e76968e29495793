import type { Endpoint } from "#contract/core/endpoint";
import type { approverDevices } from "#contract/resources/access-control/approver-devices";
import { lockRow } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import { requireReauth } from "#server/features/access-control/core/reauth";
import { type Call, user } from "#server/http/call";
import { invalid, problem } from "#server/problem";
import { storedPolicy } from "./policy.ts";
import { loweredTier, misdated, type Policy } from "./rules.ts";

type ReplaceCall = typeof approverDevices.replacePolicy extends Endpoint<infer T> ? Call<T> : never;

/**
 * Floors are only raised, and a day that has come is not put off (docs/approver-devices.md, "Policy of a partner"). Judged
 * with the partner's policy held: of two changes the second meets what the first has stored.
 */
export async function replacePolicy(call: ReplaceCall): Promise<Policy> {
  const { partnerId } = user(call);
  if (partnerId === null) throw problem("FORBIDDEN");
  const { floorOverrides, requireEnrollment, enforceFrom, ...proof } = call.body;
  const given: Policy = { floorOverrides, requireEnrollment, enforceFrom };
  call.audit.note({ resource: { type: "authenticator_policy", id: partnerId }, owner: { partnerId } });
  const seen = await storedPolicy(call.db, partnerId);
  refuseLowering(call, seen, given);
  const isProven = seen.requireEnrollment && !given.requireEnrollment;
  if (isProven) await requireReauth(call, proof);
  return call.transaction(() =>
    call.asSystem("set authenticator policy", (tx) => store(call, tx, { partnerId, given, isProven })),
  );
}

interface Storing {
  readonly partnerId: string;
  readonly given: Policy;
  readonly isProven: boolean;
}

async function store(call: ReplaceCall, tx: Tx, { partnerId, given, isProven }: Storing): Promise<Policy> {
  await lockRow(tx, call.services.store.dialect, "authenticatorPolicies", partnerId);
  const stored = await storedPolicy(tx, partnerId);
  refuseLowering(call, stored, given);
  if (stored.requireEnrollment && !given.requireEnrollment && !isProven) throw problem("reauth_required");
  const updatedAt = call.clock.now();
  await tx
    .insertInto("authenticatorPolicies")
    .values({ partnerId, ...given, updatedAt })
    .onConflict((on) => on.column("partnerId").doUpdateSet({ ...given, updatedAt }))
    .execute();
  call.audit.note({ details: { from: stored, to: given } });
  return given;
}

function refuseLowering({ clock }: ReplaceCall, stored: Policy, given: Policy): void {
  const tier = loweredTier(stored, given.floorOverrides, clock.now());
  if (tier !== undefined) throw problem("FLOOR_CANNOT_BE_LOWERED", { details: { tier } });
  const message = misdated(stored, given.enforceFrom, clock.now());
  if (message !== undefined) throw invalid({ path: "enforceFrom", message });
}
