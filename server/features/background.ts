import type { JobHandlers } from "#server/jobs/queue";
import type { Schedule } from "#server/jobs/scheduler";
import { deviceSchedules } from "./devices/schedules.ts";

/** Durable jobs by kind. */
export const jobHandlers: JobHandlers = {};

/** What runs by the clock (contract 4 §15). */
export const schedules: readonly Schedule[] = [...deviceSchedules];
