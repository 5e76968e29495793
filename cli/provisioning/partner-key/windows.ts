import { usageError } from "../../errors/cli-error.ts";
import { counted } from "../budget.ts";
import { type Plan, stepsOf } from "../plan.ts";

/** What the server grants to one principal in an hour, whichever of its keys is used. */
export const hourly = { writes: 120, mints: 10 } as const;

export interface Windows {
  readonly writes: number;
  readonly mints: number;
  /** Hours that have to be begun for all of it. */
  readonly count: number;
}

export function windowsOf(plan: Plan): Windows {
  const steps = plan.organizations.flatMap(stepsOf);
  const mints = steps.filter(({ kind }) => kind === "enrollmentKey").length;
  // Asking whether this caller made an organization counts as a write.
  const questions = plan.organizations.filter(({ keys }) => keys.some((step) => step.onlyIfMadeWith !== undefined));
  const writes = steps.length + questions.length;
  const count = Math.max(Math.ceil(writes / hourly.writes), Math.ceil(mints / hourly.mints));
  return { writes, mints, count };
}

/** `37 mints, 10 an hour: 4 windows`. */
export function windowsText({ writes, mints, count }: Windows): string {
  const byMints = Math.ceil(mints / hourly.mints) === count;
  const what = byMints
    ? `${counted(mints, "mint")}, ${hourly.mints} an hour`
    : `${counted(writes, "write")}, ${hourly.writes} an hour`;
  return `${what}: ${counted(count, "window")}`;
}

/** A plan for more than an hour is begun only by who says so. */
export function requirePace(windows: Windows, pace: boolean): void {
  if (windows.count <= 1 || pace) return;
  throw usageError(
    `${windowsText(windows)}; use --pace`,
    `With --pace it waits for each window, ${counted(windows.count - 1, "hour")} or more. Nothing was changed`,
  );
}
