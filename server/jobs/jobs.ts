import { sendQueuedMail } from "./mail-queue.ts";
import type { JobHandlers } from "./queue.ts";

export const jobs: JobHandlers = { "mail.send": sendQueuedMail };
