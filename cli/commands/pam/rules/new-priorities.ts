/** A rule by what orders it: priority, then what the server breaks ties by. */
export interface Placed {
  readonly id: string;
  readonly priority: number;
  readonly createdAt: string;
}

/** The largest that a rule may have. */
const PRIORITY_MAX = 100_000;
const STEP = 10;

/**
 * The priorities that bring rules into an order, of those alone that change: as few as there can be where the numbers
 * between the others leave room, else all of them anew. They stand in the order in which they are to be sent: first what
 * goes up, from the last on, then what goes down, from the first on. Rules decide between two changes, and a run may end
 * there: two rules that keep their order have it all the while, so that none of them is overtaken by one behind it.
 */
export function newPriorities(order: readonly Placed[]): Map<string, number> {
  const changed = prioritiesOf(order);
  const rules = order.filter(({ id }) => changed.has(id));
  const goesUp = ({ id, priority }: Placed) => (changed.get(id) as number) > priority;
  const sent = [...rules.filter(goesUp).toReversed(), ...rules.filter((rule) => !goesUp(rule))];
  return new Map(sent.map(({ id }) => [id, changed.get(id) as number]));
}

function prioritiesOf(order: readonly Placed[]): Map<string, number> {
  const kept = longestInOrder(order);
  const changed = new Map<string, number>();
  let lower = -1;
  for (let at = 0; at < order.length; ) {
    if (kept.has(at)) {
      lower = order[at]!.priority;
      at += 1;
      continue;
    }
    let end = at;
    while (end < order.length && !kept.has(end)) end += 1;
    const count = end - at;
    const upper = end < order.length ? order[end]!.priority : Math.min(PRIORITY_MAX + 1, lower + STEP * (count + 1));
    if (upper - lower - 1 < count) return allAnew(order);
    const gap = Math.floor((upper - lower) / (count + 1));
    for (let one = 0; one < count; one++) changed.set(order[at + one]!.id, lower + Math.max(1, gap) * (one + 1));
    at = end;
  }
  return changed;
}

const allAnew = (order: readonly Placed[]): Map<string, number> =>
  new Map(
    order.flatMap(({ id, priority }, at) => (priority === (at + 1) * STEP ? [] : [[id, (at + 1) * STEP] as const])),
  );

const isBefore = (a: Placed, b: Placed): boolean => {
  if (a.priority !== b.priority) return a.priority < b.priority;
  return a.createdAt === b.createdAt ? a.id < b.id : a.createdAt < b.createdAt;
};

/** Places of the most rules that stand in order already. */
function longestInOrder(order: readonly Placed[]): Set<number> {
  const best = order.map(() => ({ length: 1, before: -1 }));
  for (let at = 0; at < order.length; at++)
    for (let before = 0; before < at; before++)
      if (best[before]!.length >= best[at]!.length && isBefore(order[before]!, order[at]!))
        best[at] = { length: best[before]!.length + 1, before };
  const kept = new Set<number>();
  let at = best.findIndex(({ length }) => length === Math.max(...best.map((one) => one.length)));
  for (; at >= 0; at = best[at]!.before) kept.add(at);
  return kept;
}
