import type { Schedule } from "#server/jobs/scheduler";
import { dropUnused } from "./drop-unused.ts";

export const schedules: readonly Schedule[] = [{ name: "patches.unused", cron: "40 4 * * *", run: dropUnused }];
