import { z } from "zod";
import { feature } from "./policy-feature.ts";

/** Levels of events, the least first. */
export const eventLevels = ["info", "warning", "error", "critical"] as const;
export const eventCategories = ["security", "hardware", "application", "system"] as const;

const fallback = {
  retentionDays: 30,
  minimumLevel: "info" as (typeof eventLevels)[number],
  rateLimitPerHour: 12_000,
  collectCategories: [...eventCategories] as (typeof eventCategories)[number][],
  collectionIntervalMinutes: 15,
  maxEventsPerCycle: 100,
};

export const policyFeature = feature({
  summary: "which events of devices are collected, and for how long they are kept",
  settings: () =>
    z.strictObject({
      retentionDays: whole(7, 365).default(fallback.retentionDays).describe("days that events are kept"),
      minimumLevel: z.enum(eventLevels).default(fallback.minimumLevel).describe("lower levels are left out"),
      rateLimitPerHour: whole(100, 100_000)
        .default(fallback.rateLimitPerHour)
        .describe("events of the whole organization that are stored within an hour"),
      collectCategories: z
        .array(z.enum(eventCategories))
        .max(eventCategories.length)
        .transform((given) => eventCategories.filter((category) => given.includes(category)))
        .default(fallback.collectCategories)
        .describe("categories that are collected"),
      collectionIntervalMinutes: whole(1, 60)
        .default(fallback.collectionIntervalMinutes)
        .describe("minutes between two collections"),
      maxEventsPerCycle: whole(10, 500)
        .default(fallback.maxEventsPerCycle)
        .describe("events of one collection at most"),
    }),
  fallback,
  needs: [],
  toldToAgents: true,
});

const whole = (min: number, max: number) => z.int().min(min).max(max);
