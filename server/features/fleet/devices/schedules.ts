import type { Schedule } from "#server/jobs/scheduler";
import { dropAvailability } from "./drop-availability.ts";
import { giveUpAwaited } from "./give-up-awaited.ts";
import { forgetTokensOfTheGone } from "./sever-agents.ts";
import { endExpiredMaintenance, markSilentDevicesOffline, markSilentWatchdogsOffline } from "./sweep.ts";

const EACH_MINUTE = "* * * * *";

/** Changes of devices that time alone causes (docs/fleet.md, "Device status"). */
export const schedules: readonly Schedule[] = [
  {
    name: "device-offline-sweep",
    cron: EACH_MINUTE,
    run: async (services) => void (await markSilentDevicesOffline(services)),
  },
  {
    name: "watchdog-offline-sweep",
    cron: EACH_MINUTE,
    run: async (services) => void (await markSilentWatchdogsOffline(services)),
  },
  {
    name: "maintenance-expiry",
    cron: EACH_MINUTE,
    run: async (services) => void (await endExpiredMaintenance(services)),
  },
  {
    name: "device-availability.retention",
    cron: "20 4 * * *",
    run: async (services) => void (await dropAvailability(services)),
  },
  {
    name: "devices.give-up-awaited",
    cron: "35 4 * * *",
    run: async (services) => void (await giveUpAwaited(services)),
  },
  {
    name: "device-tokens.of-the-gone",
    cron: "25 * * * *",
    run: async (services) => void (await forgetTokensOfTheGone(services)),
  },
];
