import { z } from "zod";
import { type FieldMeta, ref, storableText, timezone } from "./fields.ts";
import { negatedCriteria } from "./pam-words.ts";

/** A criterion as it was written: which texts mean nothing is judged with the whole rule. */
const criterion = (max: number, description: string, example: string) =>
  storableText(max)
    .nullable()
    .meta({ description, example, published: { type: ["string", "null"], maxLength: max } } satisfies FieldMeta);

const time = (description: string) =>
  z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time from 00:00 to 23:59")
    .describe(description);

/** When a rule holds (docs/privileged-access.md, "Time windows"). */
const timeWindow = () =>
  z.strictObject({
    start: time("first minute, as HH:MM"),
    end: time("minute at which it has ended"),
    days: z
      .array(z.int().min(0).max(6))
      .min(1)
      .max(7)
      .optional()
      .describe("days on which it starts, 0 is Sunday; absent: all"),
    timezone: timezone().optional().describe("IANA time zone of these times, UTC unless given"),
  });

/** What a rule looks at (docs/privileged-access.md, "How a rule matches"); null is no criterion. */
export const criteria = () => ({
  matchSigner: criterion(255, "common name of the certificate that signed the file", "Contoso Ltd"),
  matchSignerGroupId: ref("signer-group").nullable().describe("signer group that has the signer"),
  matchSignerThumbprint: criterion(255, "SHA-256 of that certificate, in hexadecimal", "ab".repeat(32)),
  matchHash: criterion(255, "SHA-256 of the file, in hexadecimal", "cd".repeat(32)),
  matchPathGlob: criterion(4096, "where the file lies: * within a folder, ** across", "C:\\Tools\\**"),
  matchParentImage: criterion(4096, "image of the parent process, as a whole", "C:\\Windows\\explorer.exe"),
  matchCommandLine: criterion(4096, "part of the command line, or all of it with * and ?", "--install"),
  matchUser: criterion(255, "account that is to be elevated", "pat"),
  matchAdGroup: criterion(255, "directory group of that account", "Helpdesk"),
  matchToolName: criterion(100, "tool that a key calls", "run_script"),
  matchRiskTier: z.int().min(0).max(4).nullable().describe("tier of what a key calls, this one alone"),
  matchNegate: z.array(z.enum(negatedCriteria)).max(10).nullable().describe("criteria that must not hold"),
  timeWindow: timeWindow()
    .nullable()
    .meta({
      description: "when the rule holds, its days counted from 0 for Sunday; null: always",
      example: { start: "22:00", end: "06:00", days: [1, 2], timezone: "Europe/Berlin" },
    } satisfies FieldMeta),
});

/** The same as an answer shows it. */
export const shownCriteria = () => ({
  matchSigner: z.string().nullable(),
  matchSignerGroupId: z.string().nullable(),
  matchSignerThumbprint: z.string().nullable(),
  matchHash: z.string().nullable(),
  matchPathGlob: z.string().nullable(),
  matchParentImage: z.string().nullable(),
  matchCommandLine: z.string().nullable(),
  matchUser: z.string().nullable(),
  matchAdGroup: z.string().nullable(),
  matchToolName: z.string().nullable(),
  matchRiskTier: z.int().nullable(),
  matchNegate: z.array(z.enum(negatedCriteria)).nullable(),
  timeWindow: z
    .object({
      start: z.string(),
      end: z.string(),
      days: z.array(z.int()).optional(),
      timezone: z.string().optional(),
    })
    .nullable(),
});
