import { z } from "zod";
import { reported, reportedOrBlank } from "#contract/core/fields";
import { processStatuses } from "#contract/resources/remote/processes";
import { count, listUnder, moment, spelled } from "../core/reported-list.ts";

const whole = () => z.int().min(0).nullable().catch(null);

/** A process as an agent sends it: without number or name it is none, the rest may be missing. */
export const ReportedProcess = z.object({
  pid: z.int().min(0),
  name: reported(255),
  cpuPercent: count(),
  memoryMb: count(),
  user: reportedOrBlank(255).catch(null),
  status: spelled(processStatuses, {
    r: "running",
    s: "sleeping",
    d: "sleeping",
    i: "sleeping",
    idle: "sleeping",
    t: "stopped",
    suspended: "stopped",
    z: "zombie",
  }),
  startTime: moment(),
  commandLine: reportedOrBlank(32_768).catch(null),
  parentPid: whole(),
  threads: whole(),
});

export type AnyProcess = z.output<typeof ReportedProcess>;

export const ReportedProcesses = listUnder("processes", ReportedProcess);
