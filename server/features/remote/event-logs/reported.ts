import { z } from "zod";
import { reported, reportedOrBlank } from "#contract/core/fields";
import { recordLevels } from "#contract/resources/remote/event-logs";
import { maskSecrets } from "#server/platform/mask-secrets";
import { count, listUnder, moment, spelled } from "../core/reported-list.ts";

const blank = (max: number) => reportedOrBlank(max).catch(null);
/** Process creation and script blocks bring passwords, and whoever reads devices reads them. */
const masked = (max: number) =>
  z
    .string()
    .transform((text) => maskSecrets(text.slice(0, max)))
    .nullable()
    .catch(null);

const ReportedLog = z.object({
  name: reported(256),
  displayName: blank(256),
  recordCount: count(),
  maxSize: count(),
  retentionDays: count(),
  lastWriteTime: moment(),
});

export const ReportedLogs = listUnder("logs", ReportedLog);

/** A record as an agent sends it: without its number it is none, the rest may be missing. */
export const ReportedRecord = z.preprocess(
  (sent) => {
    if (sent === null || typeof sent !== "object") return sent;
    const { timestamp, timeCreated = timestamp, ...rest } = sent as Record<string, unknown>;
    return { ...rest, timeCreated };
  },
  z.object({
    recordId: z.int().min(0),
    timeCreated: moment(),
    level: spelled(recordLevels, { info: "information", warn: "warning", err: "error", debug: "verbose" }),
    source: blank(255),
    eventId: count(),
    message: masked(32_768),
    category: blank(255),
    user: blank(255),
    computer: blank(255),
    rawXml: masked(262_144),
  }),
);

/** One page, as the agent cut it; without a total there is no more than it shows. */
export const ReportedPage = z.preprocess(
  (sent) => (Array.isArray(sent) ? { events: sent } : sent),
  z.object({ events: z.array(ReportedRecord), total: z.int().min(0).optional().catch(undefined) }),
);
