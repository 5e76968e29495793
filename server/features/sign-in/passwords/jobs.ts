import type { JobHandlers } from "#server/jobs/queue";
import { sendResetLink } from "./send-reset-link.ts";

export const jobs: JobHandlers = { "passwords.forgot": sendResetLink };
