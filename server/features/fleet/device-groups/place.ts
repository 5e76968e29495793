import { unseen } from "#server/access/site-access";
import { lockText } from "#server/db/dialect/locks";
import type { Tx } from "#server/db/unit-of-work";
import type { Call } from "#server/http/call";
import { problem, taken } from "#server/problem";
import { GROUPS_MAX, keyOfName, mayStand, type Node } from "./rules.ts";

type Placing = Pick<Call, "asSystem" | "services">;

/**
 * Every group of the organization, which nobody adds, moves or renames until the transaction ends: also those that the
 * caller does not see, since names and depth are the organization's.
 */
export async function holdGroups(call: Placing, tx: Tx, orgId: string) {
  await lockText(tx, call.services.store.dialect, `device-groups:${orgId}`);
  return call.asSystem("keep device groups", (all) =>
    all
      .selectFrom("deviceGroups")
      .select(["id", "siteId", "parentId", "nameKey", "filterGroupIds"])
      .where("orgId", "=", orgId)
      .execute(),
  );
}

export type HeldGroups = Awaited<ReturnType<typeof holdGroups>>;

export function refuseTakenName(groups: HeldGroups, id: string, name: string): void {
  const nameKey = keyOfName(name);
  if (groups.some((group) => group.nameKey === nameKey && group.id !== id)) throw taken("NAME_TAKEN", name);
}

export function refuseOverLimit(groups: HeldGroups): void {
  if (groups.length >= GROUPS_MAX) throw problem("LIMIT_REACHED", { details: { limit: GROUPS_MAX } });
}

/** A parent that is named is one that the caller sees; where the group stands follows `mayStand`. */
export async function refuseMisplaced(
  call: Pick<Call, "who" | "readAsSystem">,
  tx: Tx,
  groups: HeldGroups,
  { named, ...group }: Node & { readonly named: string | null | undefined },
): Promise<void> {
  if (named && !(await isSeen(tx, named))) {
    const refusal = await unseen(call, "deviceGroups", named);
    throw refusal.code === "NOT_FOUND" ? problem("INVALID_PARENT") : refusal;
  }
  if (!mayStand(group, groups)) throw problem("INVALID_PARENT");
}

const isSeen = (tx: Tx, id: string) =>
  tx.selectFrom("deviceGroups").select("id").where("id", "=", id).executeTakeFirst();
