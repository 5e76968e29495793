import type { Schedule } from "#server/jobs/scheduler";
import { purgeSessions } from "./purge-sessions.ts";

export const schedules: readonly Schedule[] = [{ name: "sessions.purge", cron: "20 * * * *", run: purgeSessions }];
