import type { Limit } from "#server/access/rate-limit";
import type { EventLogSettings } from "./settings.ts";

const HOUR_SECONDS = 3_600;

/** Of a device; what agents log is theirs alone. */
export const logEntries: Limit = { name: "device-log-entries", max: 20_000, windowSeconds: HOUR_SECONDS };
export const logKilobytes: Limit = { name: "device-log-kilobytes", max: 64 * 1024, windowSeconds: HOUR_SECONDS };

/** Events that are stored of an organization. */
export const eventsOfOrganization = ({ rateLimitPerHour: max }: EventLogSettings): Limit => ({
  ...{ name: "event-log-organization", max, windowSeconds: HOUR_SECONDS },
});

/** Of one device: half of its organization's, so that one that floods silences itself and not the others. */
export const eventsOfDevice = ({ rateLimitPerHour }: EventLogSettings): Limit => ({
  ...{ name: "event-log-device", max: Math.max(5_000, Math.floor(rateLimitPerHour / 2)), windowSeconds: HOUR_SECONDS },
});

/** People are told of the first refusal of an hour. */
export const refusalTold: Limit = { name: "event-log-refusal", max: 1, windowSeconds: HOUR_SECONDS };
