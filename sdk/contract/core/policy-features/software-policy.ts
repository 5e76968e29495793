import { z } from "zod";
import { text } from "../fields.ts";
import { feature } from "./policy-feature.ts";

export const softwarePolicyModes = ["allowlist", "blocklist", "audit"] as const;

const ENTRIES_MAX = 500;
const WILDCARDS_MAX = 32;

const wildcards = (glob: string): number => glob.match(/\*+|\?/g)?.length ?? 0;

/** Every field that an entry gives must match; the name alone says nothing of a file. */
const entry = () =>
  z
    .strictObject({
      name: text(255).describe("what people call it"),
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/i, "must be 64 hexadecimal characters")
        .transform((value) => value.toLowerCase())
        .optional()
        .describe("SHA-256 of the file, in hexadecimal"),
      signer: text(255).optional().describe("common name of the certificate that signed it"),
      publisher: text(255).optional().describe("organization of that certificate"),
      pathGlob: text(4096)
        .refine((glob) => wildcards(glob) <= WILDCARDS_MAX, `must have at most ${WILDCARDS_MAX} wildcards`)
        .optional()
        .describe("where it lies: * within a folder, ** across folders, ? one character"),
    })
    .refine(
      ({ name: _, ...criteria }) => Object.values(criteria).some((value) => value !== undefined),
      "needs sha256, signer, publisher or pathGlob",
    );

export const policyFeature = feature({
  summary: "which programs may be elevated, and which may not",
  settings: () =>
    z.strictObject({
      mode: z
        .enum(softwarePolicyModes)
        .describe("allowlist approves what it lists, blocklist denies it, audit notes it"),
      executable: z.array(entry()).max(ENTRIES_MAX).describe("programs, at most 500"),
    }),
  fallback: null,
  needs: ["pam:manage_policy"],
  toldToAgents: false,
  favours: ({ mode }) => mode === "allowlist",
});
