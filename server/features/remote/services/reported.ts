import { z } from "zod";
import { reported, reportedOrBlank } from "#contract/core/fields";
import { serviceStatuses, startTypes } from "#contract/resources/remote/services";
import { listUnder, spelled } from "../core/reported-list.ts";

const blank = (max: number) => reportedOrBlank(max).catch(null);

/** A service as an agent sends it: without a name it is none, the rest may be missing. */
export const ReportedService = z.object({
  name: reported(256),
  displayName: blank(256),
  status: spelled(serviceStatuses, {
    startpending: "starting",
    stoppending: "stopping",
    pausepending: "paused",
    continuepending: "starting",
    active: "running",
    activating: "starting",
    deactivating: "stopping",
    inactive: "stopped",
    failed: "stopped",
  }),
  startType: spelled(startTypes, {
    automatic: "auto",
    automaticdelayed: "auto_delayed",
    automaticdelayedstart: "auto_delayed",
    delayedauto: "auto_delayed",
    enabled: "auto",
    demand: "manual",
    static: "manual",
    masked: "disabled",
  }),
  account: blank(256),
  description: blank(4_096),
  path: blank(32_768),
  dependencies: z.array(reported(256)).max(1_000).catch([]),
});

export type AnyService = z.output<typeof ReportedService>;

export const ReportedServices = listUnder("services", ReportedService);
