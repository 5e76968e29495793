/** Groups of one organization (docs/device-groups.md, "Limits"). */
export const GROUPS_MAX = 500;
/** Groups above each other, the first included. */
export const LEVELS_MAX = 10;

/** A name as it compares without case. */
export const keyOfName = (name: string): string => name.toLowerCase();

/** What decides where a group may stand. */
export interface Node {
  readonly id: string;
  readonly siteId: string | null;
  readonly parentId: string | null;
}

/**
 * Whether a group may stand under another (docs/device-groups.md, "Parents"): not under itself, not too deep with what
 * stands under it, and each under one of the whole organization or of its own site.
 */
export function mayStand(group: Node, all: readonly Node[]): boolean {
  const nodes = new Map([...all.filter(({ id }) => id !== group.id), group].map((node) => [node.id, node]));
  const above = pathUp(group, nodes);
  if (above === undefined) return false;
  const parent = group.parentId === null ? undefined : nodes.get(group.parentId);
  if (group.parentId !== null && (!parent || !fits(group, parent))) return false;
  const children = [...nodes.values()].filter(({ parentId }) => parentId === group.id);
  if (!children.every((child) => fits(child, group))) return false;
  return above + heightOf(group.id, [...nodes.values()]) <= LEVELS_MAX;
}

const fits = (child: Node, parent: Node): boolean => parent.siteId === null || parent.siteId === child.siteId;

/** How many stand above it; undefined where the way up leads back to it. */
function pathUp(group: Node, nodes: ReadonlyMap<string, Node>): number | undefined {
  let count = 0;
  for (let at = group.parentId; at !== null; at = nodes.get(at)?.parentId ?? null) {
    count += 1;
    if (at === group.id || count > nodes.size) return undefined;
  }
  return count;
}

function heightOf(id: string, nodes: readonly Node[]): number {
  const below = nodes.filter(({ parentId }) => parentId === id);
  return 1 + Math.max(0, ...below.map((child) => heightOf(child.id, nodes)));
}

/** Ids that an event of a change holds, of those who joined and of those who left together. */
export const TOLD_MAX = 380;

/** As many of each as one event holds, and all of the shorter list where there is room. */
export function toldIds(added: readonly string[], removed: readonly string[]) {
  const half = TOLD_MAX / 2;
  const ofRemoved = Math.min(removed.length, Math.max(half, TOLD_MAX - added.length));
  return {
    addedDeviceIds: added.slice(0, TOLD_MAX - ofRemoved),
    removedDeviceIds: removed.slice(0, ofRemoved),
  };
}

/** Devices that a group may match, and hold, for a request to write the change of its members itself. */
export const WRITTEN_AT_ONCE = 1_000;

/** Groups that conditions lead through, one naming the next. */
export const CHAIN_MAX = 5;
/** JSON of the conditions of one group, which lists show. */
export const FILTER_BYTES_MAX = 64 * 1024;
