import type { FilterGroup } from "#contract/core/filters/condition";
import { asSystem } from "#server/db/as-system";
import { isDeadlock } from "#server/db/dialect/unavailable";
import { ReadGivenUp } from "#server/db/read-bounds";
import { emitEvents } from "#server/events/emit";
import { notify } from "#server/features/people/notifications/notify";
import { Problem } from "#server/problem";
import type { EventServices } from "#server/room-hooks";
import { applyPart, holdVersion, partsOf } from "./apply.ts";
import { type Difference, differenceOf, type Rule } from "./matching.ts";
import { toldOfMembers } from "./members.ts";
import { noteSome, noteWhole } from "./note-fields.ts";
import { type Evaluable, findEvaluable, type Group } from "./queries.ts";

const running = new Map<string, Promise<unknown>>();

/** One evaluation of a group after the other: an older look must not undo what a newer one wrote. */
async function oneByOne<R>(groupId: string, work: () => Promise<R>): Promise<R> {
  const before = running.get(groupId) ?? Promise.resolve();
  const mine = before.catch(() => undefined).then(work);
  running.set(groupId, mine);
  try {
    return await mine;
  } finally {
    if (running.get(groupId) === mine) running.delete(groupId);
  }
}

export const ruleOf = ({
  orgId,
  siteId,
  filterConditions,
}: Pick<Group, "orgId" | "siteId" | "filterConditions">): Rule => ({
  orgId,
  siteId,
  filter: filterConditions as FilterGroup,
});

interface Looks {
  /** At these devices alone. */
  readonly only?: readonly string[] | undefined;
  /** Who joined or left is noted, to be looked at once more: somebody else may evaluate the group at the same time. */
  readonly again?: boolean;
}

/**
 * Looks at all devices of a group, or at these alone, and writes who joined and who left; nothing once its conditions
 * have changed (docs/device-groups.md, "Dynamic groups"). Conditions that fail leave the members as they are.
 */
export function evaluate(
  services: EventServices,
  group: Evaluable,
  { only, again = false }: Looks = {},
): Promise<void> {
  return oneByOne(group.id, async () => {
    const db = asSystem(services, "evaluate device groups");
    const now = services.clock.now();
    try {
      const found = await differenceOf(db, services, group.id, ruleOf(group), only);
      if (!(await write(services, group, found, again))) return;
    } catch (error) {
      if (isNoFault(error)) return lookLater(services, group);
      await noteFailure(services, group, error, now);
      return;
    }
    if (only === undefined) await noteSuccess(services, group, now);
  });
}

/** The same of the group as it is when its turn comes; one that is gone by then is passed over. */
export async function evaluateNow(services: EventServices, id: string, looks?: Looks): Promise<void> {
  const group = await findEvaluable(asSystem(services, "evaluate device groups"), id);
  if (group) await evaluate(services, group, looks);
}

/**
 * Each part is a transaction with an event of its own: what follows may fail, and others write between them. Answers
 * whether all was written.
 */
async function write(services: EventServices, group: Evaluable, found: Difference, again: boolean): Promise<boolean> {
  const db = asSystem(services, "evaluate device groups");
  const parts = [...partsOf(found)];
  for (const part of parts) {
    const isCurrent = await db.transaction().execute(async (tx) => {
      const held = await holdVersion(tx, services, group);
      if (!held) return false;
      const { added, removed } = await applyPart(tx, services, held, part);
      if (again && parts.length === 1) await noteSome(tx, held, [...added, ...removed]);
      // Of many, one note: all are looked at once the last of them are written.
      else if (again && part === parts.at(-1)) await noteWhole(tx, held);
      if (added.length + removed.length > 0)
        await emitEvents(tx, services, "group.membership_changed", [toldOfMembers(held, added, removed)]);
      return true;
    });
    if (!isCurrent) return false;
  }
  return true;
}

async function noteSuccess(services: EventServices, { id, filterVersion }: Evaluable, now: string): Promise<void> {
  await asSystem(services, "evaluate device groups")
    .updateTable("deviceGroups")
    .set({ lastEvaluatedAt: now, attemptedAt: now, lastEvaluationError: null })
    .where("id", "=", id)
    .where("filterVersion", "=", filterVersion)
    .execute();
}

/** The conditions are not to blame where too many reads wait, or two transactions for each other. */
const isNoFault = (error: unknown): boolean =>
  (error instanceof ReadGivenUp && error.code === "RMM_READ_FULL") || isDeadlock(error);

const lookLater = (services: EventServices, group: Evaluable): Promise<void> =>
  asSystem(services, "evaluate device groups")
    .transaction()
    .execute((tx) => noteWhole(tx, group));

/** Whoever created the group is told once, until it succeeds again. */
async function noteFailure(services: EventServices, group: Evaluable, error: unknown, now: string): Promise<void> {
  const late = error instanceof Problem && error.code === "FILTER_TIMEOUT";
  const said = late ? "Its conditions took longer than 5 seconds." : "Its conditions could not be evaluated.";
  services.log.warn("device_group.evaluation_failed", { groupId: group.id, error: error as Error });
  await asSystem(services, "evaluate device groups")
    .transaction()
    .execute(async (tx) => {
      const current = await holdVersion(tx, services, group);
      if (!current) return;
      const before = await tx
        .selectFrom("deviceGroups")
        .select("lastEvaluationError")
        .where("id", "=", group.id)
        .executeTakeFirstOrThrow();
      await tx
        .updateTable("deviceGroups")
        .set({ attemptedAt: now, lastEvaluationError: said })
        .where("id", "=", group.id)
        .execute();
      if (before.lastEvaluationError !== null || group.createdBy === null) return;
      await notify(tx, services, {
        about: { orgId: group.orgId, siteId: current.siteId },
        to: { userId: group.createdBy },
        type: "system",
        priority: "high",
        title: `Group ${current.name} is not up to date`,
        message: `${said} Its devices are those of the last look, and nothing starts on it until one succeeds.`,
        link: `/groups/${group.id}`,
        metadata: { groupId: group.id },
      });
    });
}
