import type { Schedule } from "#server/jobs/scheduler";
import { pruneByRetention } from "./prune-by-retention.ts";

/** Daily (contract 4 §8). */
export const schedules: readonly Schedule[] = [{ name: "audit.retention", cron: "30 3 * * *", run: pruneByRetention }];
