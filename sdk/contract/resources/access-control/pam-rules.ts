import { z } from "zod";
import { staff } from "../../core/access.ts";
import { elevationFlows, elevationStatuses } from "../../core/elevation.ts";
import { create, del, get, type Noun, patch, post, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, idOf, instant, ref, success, text } from "../../core/fields.ts";
import { criteria, shownCriteria } from "../../core/pam-criteria.ts";
import { ruleVerdicts } from "../../core/pam-words.ts";

/** Rules of one organization (docs/privileged-access.md, "Rules"). */
export const RULES_MAX = 500;
/** Requests that one preview compares. */
export const PREVIEW_SCANNED_MAX = 5_000;

/** What decides elevations (docs/privileged-access.md, "Rules"). */
export const PamRule = shape("PamRule", () =>
  z.object({
    id: idOf("pam-rule"),
    orgId: idOf("organization"),
    siteId: idOf("site").nullable().describe("null: of the whole organization"),
    name: z.string(),
    description: z.string().nullable(),
    verdict: z.enum(ruleVerdicts),
    priority: z.int(),
    enabled: z.boolean(),
    ...shownCriteria(),
    approvalDurationMinutes: z.int().nullable().describe("null: the organization's default"),
    suspendedVerdict: z
      .literal("auto_approve")
      .nullable()
      .describe("what an upgrade took from it until it is approved anew"),
    reapprovedAt: instant().nullable(),
    reapprovedByUserId: z.string().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

const ListedRule = shape("ListedPamRule", () =>
  PamRule().extend({
    siteName: z.string().nullable().describe("of its site; null: of the whole organization, or out of reach"),
    matchSignerGroupName: z.string().nullable().describe("of its signer group; null: none, or out of reach"),
    matchRiskTierStale: z.boolean().describe("its tool never has this tier, so it matches nothing"),
    matchRiskTierValidTiers: z.array(z.int()).nullable().describe("tiers that its tool may have; null: not known"),
  }),
);

/** How a draft compares with one request (docs/privileged-access.md, "Previews"). */
const Comparison = shape("PamRuleComparison", () =>
  z.object({
    matches: z.boolean(),
    isAbout: z.boolean().describe("false: the rule is about tools and the request is not, or the other way round"),
    isAtSite: z.boolean().describe("false: the device stands at another site today"),
    isInWindow: z.boolean().describe("false: it came outside the rule's time window"),
    criteria: z.array(
      z.object({
        criterion: z.string(),
        wanted: z.union([z.string(), z.int()]).describe("what the draft says; of a signer group its id"),
        negated: z.boolean(),
        compared: z
          .enum(["met", "unmet", "absent", "never"])
          .describe("before it is turned round; absent: the request does not carry it; never: nothing can meet it"),
      }),
    ),
  }),
);

const writable = () => ({
  siteId: ref("site").nullable().describe("site whose devices it is about; null: all of the organization's"),
  name: text(255).meta({ description: "what it is called", example: "Known installers" } satisfies FieldMeta),
  description: text(2000).nullable().describe("what it is for"),
  verdict: z.enum(ruleVerdicts).describe("what happens to what it matches"),
  priority: z.int().min(0).max(100_000).describe("the least is asked first"),
  enabled: z.boolean().describe("whether it is asked"),
  ...criteria(),
  approvalDurationMinutes: z.int().min(1).max(1_440).nullable().describe("minutes of an approval; null: 15"),
});

/** No criterion where none is given. */
const defaultedCriteria = () => {
  const fields = criteria();
  return {
    matchSigner: fields.matchSigner.default(null),
    matchSignerGroupId: fields.matchSignerGroupId.default(null),
    matchSignerThumbprint: fields.matchSignerThumbprint.default(null),
    matchHash: fields.matchHash.default(null),
    matchPathGlob: fields.matchPathGlob.default(null),
    matchParentImage: fields.matchParentImage.default(null),
    matchCommandLine: fields.matchCommandLine.default(null),
    matchUser: fields.matchUser.default(null),
    matchAdGroup: fields.matchAdGroup.default(null),
    matchToolName: fields.matchToolName.default(null),
    matchRiskTier: fields.matchRiskTier.default(null),
    matchNegate: fields.matchNegate.default(null),
    timeWindow: fields.timeWindow.default(null),
  };
};

/** Every field of a rule with what it is where a new one does not say. */
const defaulted = () => {
  const fields = writable();
  return {
    ...fields,
    siteId: fields.siteId.default(null),
    description: fields.description.default(null),
    priority: fields.priority.default(100),
    enabled: fields.enabled.default(true),
    ...defaultedCriteria(),
    approvalDurationMinutes: fields.approvalDurationMinutes.default(null),
  };
};

const writers = staff().needs("pam:manage_policy").withMfa();
const refusals = [
  "PAM_RULE_INVALID_SHAPE",
  "pam_rule_risk_tier_unreachable",
  "SITE_ACCESS_DENIED",
  "SITE_NOT_IN_ORG",
  "SIGNER_GROUP_NOT_IN_ORG",
  "ORG_READ_ONLY",
] as const;
const written = () => z.object({ success: z.literal(true), rule: PamRule() });

const about: Noun = {
  name: "pam-rules",
  summary: "Rules that decide elevated rights",
  thing: "pam-rule",
  kinds: { "pam-rule": { names: ["name"], example: "Known installers" } },
  audits: ["pam.rule.create", "pam.rule.update", "pam.rule.reapprove", "pam.rule.delete"],
};

export const pamRules = resource(about, {
  list: get("/pam/rules", {
    summary: "List the rules that decide elevated rights, in the order in which they are asked",
    access: staff().needs("devices:read"),
    errors: ["ORG_ACCESS_DENIED"],
    paging: { kind: "whole", items: "rules" },
    columns: ["priority", "name", "verdict", "enabled", "suspendedVerdict", "id"],
    query: () => z.object({ orgId: ref("organization").optional().describe("only those of this organization") }),
    returns: () => z.object({ success: z.literal(true), rules: z.array(ListedRule()) }),
  }),
  create: create("/pam/rules", {
    summary: "Make a rule that decides elevated rights",
    access: writers,
    audit: "pam.rule.create",
    inExample: ["matchSigner"],
    errors: [...refusals, "ORG_ID_REQUIRED", "ORG_CONTEXT_REQUIRED", "ORG_ACCESS_DENIED", "LIMIT_REACHED"],
    body: () =>
      z.strictObject({
        orgId: ref("organization").optional().describe("organization that it decides for; default: your own"),
        ...defaulted(),
      }),
    returns: written,
  }),
  preview: post("/pam/rules/preview", {
    summary: "Show which requests of the past a rule would have met, without making it",
    description: `Compares the newest ${PREVIEW_SCANNED_MAX.toLocaleString("en")} with this rule alone. Directory groups are not stored, so a rule with one meets none. With requestId it says how each criterion compares with that request. Ten a minute and person.`,
    access: staff().needs("devices:write"),
    audit: { none: "looks at requests and changes nothing" },
    loses: "nothing",
    inExample: ["matchSigner"],
    errors: [
      "PAM_RULE_INVALID_SHAPE",
      "pam_rule_risk_tier_unreachable",
      "SITE_ACCESS_DENIED",
      "SITE_NOT_IN_ORG",
      "SIGNER_GROUP_NOT_IN_ORG",
      "ORG_ID_REQUIRED",
      "ORG_CONTEXT_REQUIRED",
      "ORG_ACCESS_DENIED",
      "NOT_FOUND",
    ],
    body: () =>
      z.strictObject({
        orgId: ref("organization").optional().describe("organization whose requests are compared; default: your own"),
        siteId: writable().siteId.default(null),
        ...defaultedCriteria(),
        windowDays: z.int().min(1).max(90).default(30).describe("how many days back"),
        flowType: z.enum(elevationFlows).optional().describe("only requests that came this way"),
        requestId: ref("elevation-request")
          .optional()
          .describe("compare with this request alone, criterion by criterion, however old it is"),
      }),
    returns: () =>
      z.object({
        success: z.literal(true),
        totalMatched: z.int(),
        totalScanned: z.int(),
        windowDays: z.int(),
        truncated: z.boolean().describe("there are more requests than were compared"),
        statusBreakdown: z.object(
          Object.fromEntries(elevationStatuses.map((status) => [status, z.int()])) as Record<
            (typeof elevationStatuses)[number],
            z.ZodInt
          >,
        ),
        comparison: Comparison().nullable().describe("with the request that was named; null: none was"),
        sample: z.array(
          z.object({
            id: idOf("elevation-request"),
            requestedAt: instant(),
            flowType: z.enum(elevationFlows),
            status: z.enum(elevationStatuses),
            subjectUsername: z.string(),
            targetExecutablePath: z.string().nullable(),
            toolName: z.string().nullable(),
          }),
        ),
      }),
  }),
  update: patch("/pam/rules/:id", {
    summary: "Change a rule, or approve it anew after an upgrade suspended it",
    access: writers,
    audit: "pam.rule.update",
    errors: [...refusals, "NOT_FOUND", "NO_UPDATES", "NOT_SUSPENDED"],
    body: () =>
      z
        .strictObject({
          ...writable(),
          reapprove: z.literal(true).describe("approve by itself again what an upgrade suspended; alone"),
        })
        .partial()
        .refine(({ reapprove, ...others }) => reapprove === undefined || Object.keys(others).length === 0, {
          path: ["reapprove"],
          message: "reapprove: comes alone",
        }),
    returns: written,
  }),
  remove: del("/pam/rules/:id", {
    summary: "Delete a rule that decides elevated rights",
    access: writers,
    audit: "pam.rule.delete",
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED", "ORG_READ_ONLY"],
    returns: success,
  }),
});
