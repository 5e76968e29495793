import { z } from "zod";
import type { FieldMeta } from "./fields.ts";

export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 100;

/**
 * Whole number in a query: unreadable text is the default, out of range is clamped
 * (docs/conventions.md, "Lists and pages").
 */
export function lenientInt(options: { default: number; min: number; max: number }) {
  return z
    .string()
    .optional()
    .transform((value) => {
      const trimmed = value?.trim() ?? "";
      if (!/^[+-]?\d+$/.test(trimmed)) return options.default;
      return Math.min(options.max, Math.max(options.min, Number(trimmed)));
    })
    .meta({
      published: { type: "integer", minimum: options.min, maximum: options.max, default: options.default },
    } satisfies FieldMeta);
}

/** The same where a number that cannot be read, or out of range, is refused. */
export const boundedInt = ({ min, max, default: whenAbsent }: { default: number; min: number; max: number }) =>
  z
    .string()
    .optional()
    .transform((value) =>
      value === undefined ? whenAbsent : /^\d{1,9}$/.test(value.trim()) ? Number(value) : Number.NaN,
    )
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`)
    .meta({ published: { type: "integer", minimum: min, maximum: max, default: whenAbsent } } satisfies FieldMeta);

/** Highest page a caller can ask for: keeps `offset` a safe integer on both databases. */
const PAGE_MAX = 1_000_000;

export const pageQuery = () => ({
  page: lenientInt({ default: 1, min: 1, max: PAGE_MAX }).describe("page of the list, from 1"),
  limit: lenientInt({ default: PAGE_LIMIT_DEFAULT, min: 1, max: PAGE_LIMIT_MAX }).describe("entries of a page"),
});

export interface Pagination {
  page: number;
  limit: number;
  total: number;
}

/** `{data, pagination}` (docs/conventions.md, "Lists and pages"). */
export const pageOf = <S extends z.ZodType>(item: S) =>
  z.object({
    data: z.array(item),
    pagination: z.object({ page: z.int(), limit: z.int(), total: z.int() }),
  });

/** `{data}`, without pages. */
export const wholeOf = <S extends z.ZodType>(item: S) => z.object({ data: z.array(item) });

export const paged = { kind: "page", items: "data" } as const;
export const whole = { kind: "whole", items: "data" } as const;
