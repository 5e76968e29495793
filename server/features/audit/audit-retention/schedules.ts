import type { Schedule } from "#server/jobs/scheduler";
import { pruneByRetention } from "./prune-by-retention.ts";

/** Daily (docs/platform.md, "Schedules"). */
export const schedules: readonly Schedule[] = [{ name: "audit.retention", cron: "30 3 * * *", run: pruneByRetention }];
