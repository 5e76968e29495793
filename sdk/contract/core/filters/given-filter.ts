import { z } from "zod";
import type { FieldMeta } from "../fields.ts";

const published = {
  type: "object",
  properties: {
    operator: { enum: ["AND", "OR"] },
    conditions: { type: "array", minItems: 1, items: { type: "object" } },
  },
  required: ["operator", "conditions"],
} as const;

/** As the SDK has it; `FilterGroup` fits. */
type AnyFilter = { operator: "AND" | "OR"; conditions: Record<string, unknown>[] };

const isObject = (value: unknown) => typeof value === "object" && value !== null;

/** A filter that somebody sends: whatever it is, the server judges it and tells all that is wrong with it (docs/filters.md, "Errors"). */
export const givenFilter = () =>
  (z.unknown().refine(isObject, "must be an object") as z.ZodType as z.ZodType<AnyFilter, AnyFilter>).meta({
    description: "which devices: {operator: AND or OR, conditions: [...]}, as `rmm filters explain` prints it",
    example: { operator: "AND", conditions: [{ field: "osType", operator: "equals", value: "windows" }] },
    published,
  } satisfies FieldMeta);

/** A filter in an answer. */
export const shownFilter = () =>
  (z.unknown() as z.ZodType as z.ZodType<AnyFilter, AnyFilter>).meta({ published } satisfies FieldMeta);
