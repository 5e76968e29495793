import type { Schedule } from "#server/jobs/scheduler";
import { recheckDomains } from "./recheck.ts";

export const schedules: readonly Schedule[] = [{ name: "sso.domain-recheck", cron: "40 4 * * *", run: recheckDomains }];
