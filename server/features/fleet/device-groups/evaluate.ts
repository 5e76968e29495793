import type { FilterGroup } from "#contract/core/filters/condition";
import { asSystem } from "#server/db/as-system";
import { ReadGivenUp } from "#server/db/read-bounds";
import { emitEvents } from "#server/events/emit";
import { notify } from "#server/features/people/notifications/notify";
import { Problem } from "#server/problem";
import type { EventServices } from "#server/room-hooks";
import { applyDifference, holdVersion } from "./apply.ts";
import { type Difference, differenceOf, type Rule } from "./matching.ts";
import { type NamedDevice, toldOfMembers } from "./members.ts";
import { noteWhole } from "./note-fields.ts";
import type { Group } from "./queries.ts";

/** What an evaluation begins with. */
export type Evaluable = Pick<
  Group,
  "id" | "orgId" | "siteId" | "name" | "filterConditions" | "filterVersion" | "lastEvaluationError" | "createdBy"
>;

/** Members that one transaction writes. */
const PART = 2_000;

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

export const ruleOf = ({ orgId, siteId, filterConditions }: Omit<Evaluable, "createdBy">): Rule => ({
  orgId,
  siteId,
  filter: filterConditions as FilterGroup,
});

/**
 * Looks at all devices of a group, or at these alone, and writes who joined and who left; nothing once its conditions
 * have changed (docs/device-groups.md, "Dynamic groups"). Conditions that fail leave the members as they are.
 */
export function evaluate(services: EventServices, group: Evaluable, only?: readonly string[]): Promise<void> {
  return oneByOne(group.id, async () => {
    const db = asSystem(services, "evaluate device groups");
    const now = services.clock.now();
    try {
      const found = await differenceOf(db, services, group.id, ruleOf(group), only);
      await write(services, group, found);
    } catch (error) {
      await noteFailure(services, group, error, now);
      return;
    }
    if (only === undefined) await noteSuccess(services, group, now);
  });
}

async function write(services: EventServices, group: Evaluable, found: Difference): Promise<void> {
  const db = asSystem(services, "evaluate device groups");
  const parts = partsOf(found);
  const [added, removed]: [NamedDevice[], NamedDevice[]] = [[], []];
  for (const [at, part] of parts.entries()) {
    await db.transaction().execute(async (tx) => {
      const held = await holdVersion(tx, services, group);
      const applied = held && (await applyDifference(tx, services, held, part));
      added.push(...(applied?.added ?? []));
      removed.push(...(applied?.removed ?? []));
      const last = !held || at === parts.length - 1;
      if (last && added.length + removed.length > 0)
        await emitEvents(tx, services, "group.membership_changed", [toldOfMembers(held ?? group, added, removed)]);
      if (!held) parts.length = 0;
    });
  }
}

/** Few enough at a time that others can write between them. */
function partsOf({ joining, leaving }: Difference): Difference[] {
  const parts: Difference[] = [];
  for (let from = 0; from < Math.max(joining.length, leaving.length); from += PART)
    parts.push({ joining: joining.slice(from, from + PART), leaving: leaving.slice(from, from + PART) });
  return parts;
}

async function noteSuccess(services: EventServices, { id, filterVersion }: Evaluable, now: string): Promise<void> {
  await asSystem(services, "evaluate device groups")
    .updateTable("deviceGroups")
    .set({ lastEvaluatedAt: now, attemptedAt: now, lastEvaluationError: null })
    .where("id", "=", id)
    .where("filterVersion", "=", filterVersion)
    .execute();
}

/** The conditions are not to blame where too many reads wait. */
const lookLater = (services: EventServices, group: Evaluable): Promise<void> =>
  asSystem(services, "evaluate device groups")
    .transaction()
    .execute((tx) => noteWhole(tx, group));

/** Whoever created the group is told once, until it succeeds again. */
async function noteFailure(services: EventServices, group: Evaluable, error: unknown, now: string): Promise<void> {
  if (error instanceof ReadGivenUp && error.code === "RMM_READ_FULL") return lookLater(services, group);
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
