import type { Schedule } from "#server/jobs/scheduler";
import { announceWaiting } from "./announce.ts";
import { cleanUp } from "./clean-up.ts";
import { eachByItself } from "./each-by-itself.ts";
import { expireCalls, expireStale, expireWindows } from "./sweep.ts";

export const schedules: readonly Schedule[] = [
  {
    name: "elevation-requests.stale",
    cron: "*/5 * * * *",
    run: async (services) => void (await expireStale(services)),
  },
  {
    name: "elevation-requests.enforce",
    cron: "* * * * *",
    run: async (services) => {
      const works = [expireCalls, expireWindows, cleanUp, announceWaiting];
      await eachByItself(works, async (work) => void (await work(services)));
    },
  },
];
