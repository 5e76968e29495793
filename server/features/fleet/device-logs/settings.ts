import type { eventLevels } from "#contract/resources/fleet/device-logs";
import type { Reader } from "#server/db/unit-of-work";

/** What an organization's policy says of event logs (docs/device-logs.md, "Settings"). */
export interface EventLogSettings {
  readonly retentionDays: number;
  readonly minimumLevel: (typeof eventLevels)[number];
  readonly rateLimitPerHour: number;
}

export const defaults: EventLogSettings = { retentionDays: 30, minimumLevel: "info", rateLimitPerHour: 12_000 };

/** Under an unscoped handle: a policy may be the partner's. */
export async function eventLogSettings(_db: Reader, _orgId: string): Promise<EventLogSettings> {
  return defaults;
}
