import { purgePlatform } from "./purge.ts";
import type { Schedule } from "./scheduler.ts";

export const schedules: readonly Schedule[] = [{ name: "platform.purge", cron: "*/15 * * * *", run: purgePlatform }];
