import type { Owner } from "#server/access/owner-rule";
import { chunks } from "#server/db/chunks";
import { shared } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { favoursDevices, type Wanted, type WantedAssignment } from "./judge.ts";

/** An assignment with the organization of its target; null: the partner is the target. */
export type Placed = WantedAssignment & { readonly targetId: string; readonly orgId: string | null };

type Placing = Pick<Call, "scope" | "services">;

interface Target {
  readonly id: string;
  readonly orgId: string;
  /** A device can bring itself there. */
  readonly steerable: boolean;
}

/**
 * Where the targets lie: in the organization that owns the policy, or in any of the partner that does; else 400
 * TARGET_NOT_IN_SCOPE, which names them as they were given (docs/configuration-policies.md, "Assignments").
 */
export async function placed(call: Placing, tx: Tx, owner: Owner, wanted: Wanted): Promise<Placed[]> {
  const favoured = favoursDevices(wanted);
  const targets = await targetsOf(call, tx, owner, wanted.assignments);
  const refused: WantedAssignment[] = [];
  const found = wanted.assignments.flatMap((one): Placed[] => {
    const target = one.level === "partner" ? wholePartner(owner, one) : targets.get(keyOf(one));
    const steerable = target?.steerable || one.roleFilter !== null;
    if (target && !(favoured && steerable)) return [{ ...one, targetId: target.id, orgId: target.orgId }];
    refused.push(one);
    return [];
  });
  if (refused.length > 0)
    throw problem("TARGET_NOT_IN_SCOPE", {
      details: { targets: refused.map(({ level, targetId }) => ({ level, targetId: targetId ?? null })) },
    });
  // The scope has shown that it reaches them; rows may be inserted for them now.
  if (call.scope.kind === "partner") for (const { orgId } of found) if (orgId !== null) call.scope.known.add(orgId);
  return found;
}

const keyOf = ({ level, targetId }: Pick<WantedAssignment, "level" | "targetId">): string => `${level} ${targetId}`;

function wholePartner({ orgId, partnerId }: Owner, { targetId = partnerId }: WantedAssignment) {
  return orgId === null && targetId === partnerId ? { id: partnerId, orgId: null, steerable: false } : undefined;
}

async function targetsOf(
  call: Placing,
  tx: Tx,
  owner: Owner,
  wanted: readonly WantedAssignment[],
): Promise<Map<string, Target>> {
  const found = new Map<string, Target>();
  for (const level of ["device", "device_group", "site", "organization"] as const) {
    const ids = wanted.filter((one) => one.level === level).flatMap(({ targetId }) => targetId ?? []);
    for (const some of chunks(ids))
      for (const target of await within(call, tx, owner, level, some))
        found.set(keyOf({ level, targetId: target.id }), target);
  }
  return found;
}

/** Those of the ids that lie where the owner may reach. */
async function within(
  call: Placing,
  tx: Tx,
  { orgId, partnerId }: Owner,
  level: "device" | "device_group" | "site" | "organization",
  ids: readonly string[],
): Promise<Target[]> {
  const organizations = tx
    .selectFrom("organizations")
    .select("organizations.id")
    .where("organizations.partnerId", "=", partnerId);
  const own = orgId === null ? organizations : organizations.where("organizations.id", "=", orgId);
  if (level === "organization") {
    const rows = await own.where("organizations.id", "in", ids).execute();
    return rows.map(({ id }) => ({ id, orgId: id, steerable: false }));
  }
  if (level === "device_group") {
    const rows = await tx
      .selectFrom("deviceGroups")
      .select(["id", "orgId", "type"])
      .where("id", "in", ids)
      .where("orgId", "in", own)
      .execute();
    return rows.map(({ type, ...group }) => ({ ...group, steerable: type === "dynamic" }));
  }
  if (level === "site") {
    const rows = await tx
      .selectFrom("sites")
      .select(["id", "orgId"])
      .where("id", "in", ids)
      .where("orgId", "in", own)
      .execute();
    return rows.map((row) => ({ ...row, steerable: false }));
  }
  // Held, so that none goes out of service meanwhile: it would stay assigned.
  const devices = tx
    .selectFrom("devices")
    .select(["id", "orgId"])
    .where("id", "in", ids)
    .where("orgId", "in", own)
    .where("status", "<>", "decommissioned")
    .orderBy("id");
  const rows = await shared(devices, call.services.store.dialect).execute();
  return rows.map((row) => ({ ...row, steerable: false }));
}
