import type { FilterCondition, FilterGroup } from "#contract/core/filters/condition";
import type { DeviceGroupDetail, GroupMember } from "#sdk/generated/models/index";
import type { Context } from "../../context.ts";
import { counted } from "../../provisioning/budget.ts";
import type { Where } from "../../where/parse.ts";
import { pointing } from "../../where/pointing.ts";
import type { Chosen } from "../devices/chosen.ts";
import { allMatches, narrowed } from "../devices/matching.ts";

/** What conditions would make of a group's members. */
export interface MemberChange {
  readonly joins: readonly Chosen[];
  readonly leaves: readonly GroupMember[];
  readonly stays: number;
  /** Of those that stay: they would leave, and are pinned. */
  readonly pinned: number;
}

/** Compares those who match now with those who are in the group, all of both, as they would be with this site. */
export async function memberChange(
  context: Context,
  group: DeviceGroupDetail,
  where?: Where,
  siteId: string | null = group.siteId,
): Promise<MemberChange> {
  const client = await context.client();
  const { signal } = context.shell;
  const own = { source: "", filter: group.filterConditions as unknown as FilterGroup, places: new Map() };
  const within = narrowed(where ?? own, [
    { field: "orgId", operator: "equals", value: group.orgId },
    ...ofSite(siteId),
  ]);
  const matches = await pointing(context, within, () => allMatches(context, within.filter));
  const members = await client.deviceGroups
    .devices({ params: { id: group.id }, query: { limit: 100 } }, { signal })
    .toArray();
  const matching = new Set(matches.map(({ id }) => id));
  const present = new Set(members.map(({ deviceId }) => deviceId));
  const unmatched = members.filter(({ deviceId }) => !matching.has(deviceId));
  const foreign = siteId === group.siteId ? [] : await pinnedElsewhere(context, group, unmatched, siteId);
  // The members come by when they joined.
  const leaves = unmatched
    .filter((one) => !one.isPinned || foreign.includes(one))
    .toSorted((a, b) => a.hostname.localeCompare(b.hostname, "en"));
  const joins = matches.filter(({ id }) => !present.has(id));
  return { joins, leaves, stays: members.length - leaves.length, pinned: unmatched.length - leaves.length };
}

const ofSite = (siteId: string | null): FilterCondition[] =>
  siteId === null ? [] : [{ field: "siteId", operator: "equals", value: siteId }];

/** A pin holds against conditions, and not against another site of the group. */
async function pinnedElsewhere(
  context: Context,
  { id }: DeviceGroupDetail,
  unmatched: readonly GroupMember[],
  siteId: string | null,
): Promise<GroupMember[]> {
  const pinned = unmatched.filter(({ isPinned }) => isPinned);
  if (siteId === null || pinned.length === 0) return [];
  const conditions = [{ field: "groupId", operator: "equals" as const, value: id }, ...ofSite(siteId)];
  const there = new Set((await allMatches(context, { operator: "AND", conditions })).map((device) => device.id));
  return pinned.filter(({ deviceId }) => !there.has(deviceId));
}

const NAMED_MAX = 5;

/** `Tills: 2 devices join (till-3, till-4), 1 leaves (pc-1), 12 stay, 1 of them pinned`. */
export function changeText({ name }: DeviceGroupDetail, { joins, leaves, stays, pinned }: MemberChange): string {
  const few = (all: readonly { readonly hostname: string }[]): string => {
    const names = all.slice(0, NAMED_MAX).map(({ hostname }) => hostname);
    return all.length === 0 ? "" : ` (${[...names, ...(all.length > NAMED_MAX ? ["…"] : [])].join(", ")})`;
  };
  const verb = (count: number, one: string, many: string) => `${count === 1 ? one : many}`;
  return [
    `${name}: ${counted(joins.length, "device")} ${verb(joins.length, "joins", "join")}${few(joins)}`,
    `${leaves.length} ${verb(leaves.length, "leaves", "leave")}${few(leaves)}`,
    `${stays} ${verb(stays, "stays", "stay")}${pinned > 0 ? `, ${pinned} of them pinned` : ""}`,
  ].join(", ");
}
