import { sendQueuedMail } from "#server/jobs/mail-queue";
import { platformSchedules } from "#server/jobs/purge";
import type { JobHandlers } from "#server/jobs/queue";
import type { Schedule } from "#server/jobs/scheduler";
import { auditSchedules } from "./audit/audit-logs/schedules.ts";
import { deviceSchedules } from "./fleet/devices/schedules.ts";
import { sendResetLink } from "./sign-in/passwords/send-reset-link.ts";
import { sessionSchedules } from "./sign-in/sessions/schedules.ts";
import { ssoDomainSchedules } from "./sign-in/sso-domains/recheck.ts";
import { ssoLoginSchedules } from "./sign-in/sso-logins/purge.ts";

/** Durable jobs by kind. */
export const jobHandlers: JobHandlers = { "mail.send": sendQueuedMail, "passwords.forgot": sendResetLink };

/** What runs by the clock (contract 4 §15). */
export const schedules: readonly Schedule[] = [
  ...auditSchedules,
  ...deviceSchedules,
  ...sessionSchedules,
  ...ssoLoginSchedules,
  ...ssoDomainSchedules,
  ...platformSchedules,
];
