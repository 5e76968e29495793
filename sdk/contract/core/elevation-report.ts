import { z } from "zod";
import { shape } from "./endpoint.ts";
import { type FieldMeta, timestamp } from "./fields.ts";

const isWhole = (text: string) => !text.includes("\u0000") && text.isWellFormed();

/** As it came, or refused: characters that nobody sees are part of what somebody decides on. Empty is absent. */
const exact = (max: number) =>
  z
    .string()
    .max(max)
    .refine(isWhole, "must be well-formed text")
    .transform((text) => (text === "" ? undefined : text))
    .optional()
    .meta({ published: { type: "string", maxLength: max } } satisfies FieldMeta);

const digest = () =>
  z
    .string()
    .regex(/^([0-9a-f]{64})?$/i, "must be 64 hexadecimal characters")
    .transform((text) => (text === "" ? undefined : text.toLowerCase()))
    .optional()
    .meta({ published: { type: "string" } } satisfies FieldMeta);

export const COMMAND_LINE_MAX = 24_000;
export const REPORT_BYTES_MAX = 32 * 1024;

/** A prompt for elevated rights as an agent saw it (docs/elevation-requests.md, "A report"). */
export const ElevationReport = shape("ElevationReport", () =>
  z.object({
    subject_username: z
      .string()
      .min(1)
      .max(255)
      .refine(isWhole, "must be well-formed text")
      .meta({ description: "user who is to be elevated", example: "CONTOSO\\jana" } satisfies FieldMeta),
    target_executable_path: exact(4_096).describe("final path of the opened file"),
    target_executable_hash: digest().describe("SHA-256 of the opened file, in hexadecimal"),
    target_executable_signer: exact(255).describe("common name of the certificate that signed it"),
    target_executable_signer_thumbprint: digest().describe("SHA-256 of that certificate, in hexadecimal"),
    target_publisher: exact(255).describe("organization of that certificate"),
    subject_groups: z
      .array(z.string().max(255).refine(isWhole, "must be well-formed text"))
      .max(200)
      .optional()
      .describe("directory groups of the user: judged, never stored"),
    pid: z.int().min(0).max(4_294_967_295).optional().describe("id of the process"),
    parent_image: exact(4_096).describe("image of the process that started it"),
    command_line: exact(COMMAND_LINE_MAX).describe("its command line"),
    observed_at: timestamp().optional().describe("when the agent saw it, by its own clock: for display alone"),
  }),
);
