import { type FeatureSettings, policyFeatures } from "#contract/generated/policy-features";
import type { Reader } from "#server/db/unit-of-work";
import { organizationFeature } from "#server/features/automation/configuration-policies/effective";

export type EventLogSettings = Pick<
  FeatureSettings<"event_log">,
  "retentionDays" | "minimumLevel" | "rateLimitPerHour"
>;

export const defaults: EventLogSettings = policyFeatures.event_log.fallback;

/** What holds for an organization as a whole (docs/device-logs.md, "Settings"). */
export const eventLogSettings = async (db: Reader, orgId: string): Promise<EventLogSettings> =>
  (await organizationFeature(db, orgId, "event_log")).settings;
