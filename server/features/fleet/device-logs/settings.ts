import type { FeatureSettings } from "#contract/core/generated/policy-features";
import { policyFeature } from "#contract/core/policy-features/event-log";
import type { Reader } from "#server/db/unit-of-work";
import { organizationFeature } from "#server/features/automation/configuration-policies/effective";

export type EventLogSettings = Pick<
  FeatureSettings<"event_log">,
  "retentionDays" | "minimumLevel" | "rateLimitPerHour"
>;

export const defaults: EventLogSettings = policyFeature.fallback!;

/** What holds for an organization as a whole (docs/device-logs.md, "Settings"). */
export async function eventLogSettings(db: Reader, orgId: string): Promise<EventLogSettings> {
  const { settings } = await organizationFeature(db, orgId, "event_log");
  return settings ?? defaults;
}
