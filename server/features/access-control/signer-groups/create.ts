import type { Endpoint } from "#contract/core/endpoint";
import { SIGNER_GROUPS_MAX, type signerGroups } from "#contract/resources/access-control/signer-groups";
import { orgForCreate, refuseSiteRestricted } from "#server/access/org-access";
import { lockText } from "#server/db/dialect/locks";
import { isUniqueViolation } from "#server/db/dialect/violations";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem, taken } from "#server/problem";
import { distinct, keyOfName, shownSignerGroup } from "./queries.ts";

type CreateCall = typeof signerGroups.create extends Endpoint<infer T> ? Call<T> : never;

/** Makes a group, which no rule names yet (docs/privileged-access.md, "Signer groups"). */
export async function createSignerGroup(call: CreateCall) {
  refuseSiteRestricted(call);
  const { name, description } = call.body;
  const signers = distinct(call.body.signers);
  return call.transaction(async (tx) => {
    const { id: orgId } = await orgForCreate(call, call.body.orgId, tx);
    const id = call.random.uuid();
    call.audit.note({ resource: { id, name }, owner: { orgId }, details: { signers: signers.length } });
    await refuseOverLimit(call as Call, tx, orgId);
    const now = call.clock.now();
    const row = { id, orgId, name, nameKey: keyOfName(name), description, signers, createdAt: now, updatedAt: now };
    try {
      await call.asSystem("write rules of elevations", (all) => all.insertInto("signerGroups").values(row).execute());
    } catch (error) {
      throw isUniqueViolation(error) ? taken("NAME_TAKEN", name, error) : error;
    }
    return { success: true as const, signerGroup: await shownSignerGroup(tx, id) };
  });
}

async function refuseOverLimit({ services }: Call, tx: Tx, orgId: string): Promise<void> {
  await lockText(tx, services.store.dialect, `signer groups of ${orgId}`);
  const { count } = await tx
    .selectFrom("signerGroups")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("orgId", "=", orgId)
    .executeTakeFirstOrThrow();
  const current = Number(count);
  if (current >= SIGNER_GROUPS_MAX)
    throw problem("LIMIT_REACHED", { details: { limit: "signerGroups", max: SIGNER_GROUPS_MAX, current } });
}
