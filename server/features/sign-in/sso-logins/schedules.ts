import type { Schedule } from "#server/jobs/scheduler";
import { purgeSsoLogins } from "./purge.ts";

export const schedules: readonly Schedule[] = [{ name: "sso-logins.purge", cron: "*/15 * * * *", run: purgeSsoLogins }];
