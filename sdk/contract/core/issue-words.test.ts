import { expect, it } from "vitest";
import { z } from "zod";
import { issueText } from "./issue-words.ts";

const said = (schema: z.ZodType, value: unknown) => schema.safeParse(value).error?.issues.map(issueText);

it.each([
  [z.enum(["a", "b"]), "c", "must be one of a, b"],
  [z.literal("a"), "c", "must be a"],
  [z.literal(true), false, "must be true"],
  [z.int().min(7), 3, "must be at least 7"],
  [z.number().gt(7), 7, "must be more than 7"],
  [z.int().max(7), 9, "must be at most 7"],
  [z.string().max(3), "long text", "must have at most 3 characters"],
  [z.string().min(1), "", "must have at least 1 character"],
  [z.array(z.string()).max(1), ["a", "b"], "must have at most 1 entry"],
  [z.strictObject({}), { retentonDays: 3, other: 1 }, "takes no retentonDays, other"],
  [z.string(), undefined, "is missing"],
  [z.string(), 7, "must be text"],
  [z.int(), "7", "must be a number"],
  [z.int(), 7.5, "must be a whole number"],
  [z.boolean(), "yes", "must be true or false"],
  [z.array(z.string()), "a", "must be a list"],
  [z.strictObject({}), [], "must be an object"],
  [z.string().refine(() => false, "must be a uuid"), "a", "must be a uuid"],
])("%# says what is wrong with a value in plain words", (schema, value, words) => {
  expect(said(schema, value)).toEqual([words]);
});
