import { asSystem } from "#server/db/as-system";
import { after, HOUR, SECOND } from "#server/platform/clock";
import type { Services } from "#server/services";
import { evaluateNow } from "./evaluate.ts";
import { dynamicGroups } from "./queries.ts";

/** Every group is looked at again after so long, whatever its conditions speak of. */
const WHOLE_MS = HOUR;

/**
 * Looks at all devices of the groups whose members time alone changes, and of those that failed, every
 * `GROUP_SWEEP_INTERVAL_SECONDS`; at those of every other group once an hour (docs/device-groups.md, "Dynamic groups").
 * Another process may take notes of changes meanwhile, and find nothing to do where this look, which is older, is still to
 * be written: whoever joins or leaves by it is noted again. Returns how many groups.
 */
export async function sweepGroups(services: Services): Promise<number> {
  const now = services.clock.now();
  const [often, seldom] = [services.config.groupSweepIntervalSeconds * SECOND, WHOLE_MS];
  const due = await dynamicGroups(asSystem(services, "evaluate device groups"), (query) =>
    query
      .where((eb) =>
        eb.or([
          eb("deviceGroups.attemptedAt", "is", null),
          eb("deviceGroups.attemptedAt", "<=", after(now, -seldom)),
          eb.and([
            eb("deviceGroups.attemptedAt", "<=", after(now, -often)),
            eb.or([eb("deviceGroups.byClock", "=", true), eb("deviceGroups.lastEvaluationError", "is not", null)]),
          ]),
        ]),
      )
      .orderBy("deviceGroups.attemptedAt"),
  );
  for (const { id } of due) await evaluateNow(services, id, { again: true });
  return due.length;
}
