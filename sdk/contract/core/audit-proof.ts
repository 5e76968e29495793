import { z } from "zod";
import { shape } from "./endpoint.ts";
import { idOf, instant } from "./fields.ts";

const ofChain = () => ({ chainKind: z.enum(["system", "partner", "organization"]), chainId: z.string() });
const placed = () => ({ anchorSeq: z.int(), ...ofChain(), prevAnchorHash: z.string().nullable() });
const signature = () => ({ signature: z.string().nullable(), signingKeyId: z.string().nullable() });
const anchor = () => ({
  ...placed(),
  headChainSeq: z.int(),
  headChainHash: z.string().nullable(),
  entryCount: z.int(),
  merkleRoot: z.string().nullable(),
  anchoredAt: instant(),
  ...signature(),
});

/** A signed statement of where a chain stood (docs/audit-format.md, "Statements"). */
export const AuditAnchor = shape("AuditAnchor", () => z.object(anchor()));

/** A signed record of what retention removed, in the sequence of the anchors. */
export const AuditPrune = shape("AuditPrune", () =>
  z.object({
    type: z.literal("prune"),
    ...placed(),
    prunedThroughSeq: z.int(),
    prunedThroughHash: z.string(),
    prunedCount: z.int(),
    cutoff: instant(),
    prunedAt: instant(),
    restates: z.literal(true).optional().describe("restates a record from before records were signed"),
    breakCount: z.int().optional().describe("removed entries that failed verification"),
    ...signature(),
  }),
);

/** One of the statements about a chain; `none` where a chain has none yet. */
export const AuditStatement = shape("AuditStatement", () =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("anchor"), ...anchor() }),
    AuditPrune(),
    z.object({ type: z.literal("none"), ...ofChain() }),
  ]),
);

export const auditBreakKinds = [
  "sequence_gap",
  "link_mismatch",
  "prefix_unexplained",
  "chain_hash_mismatch",
  "missing_row",
  "content_mismatch",
  "unsealed_row",
] as const;
export const anchorProblemReasons = [
  "signature_invalid",
  "seq_regressed",
  "anchored_entry_missing",
  "hash_diverged",
  "count_shrank",
] as const;

/** Result of a verification (docs/audit.md, "Verification"). `ok: false` is an answer, not an error. */
export const AuditVerify = shape("AuditVerify", () =>
  z.object({
    orgId: idOf("organization").nullable(),
    partnerId: idOf("partner").nullable(),
    ok: z.boolean(),
    entriesChecked: z.int(),
    first: z.object({ chainSeq: z.int(), prevHash: z.string().nullable() }).nullable(),
    head: z.object({ chainSeq: z.int(), chainHash: z.string() }).nullable(),
    prunedPrefix: z.boolean(),
    breakCount: z.int(),
    breaks: z
      .array(
        z.object({
          kind: z.enum(auditBreakKinds),
          chainSeq: z.int().nullable(),
          auditId: idOf("audit-log").nullable(),
          expected: z.string().nullable(),
          actual: z.string().nullable(),
        }),
      )
      .describe("the first 100"),
    anchors: z.object({
      checked: z.int(),
      signedCount: z.int(),
      latest: AuditAnchor().nullable(),
      problems: z.array(
        z.object({
          anchorSeq: z.int(),
          reason: z.enum(anchorProblemReasons),
          anchoredHeadSeq: z.int(),
          liveHeadSeq: z.int().nullable(),
        }),
      ),
    }),
    verifiedAt: instant(),
    durationMs: z.number(),
  }),
);
