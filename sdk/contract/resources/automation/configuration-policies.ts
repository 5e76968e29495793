import { z } from "zod";
import { staff } from "../../core/access.ts";
import { deviceRoles, osTypes } from "../../core/device-words.ts";
import { create, del, get, type Noun, patch, post, put, resource, shape } from "../../core/endpoint.ts";
import { type FieldMeta, idOf, instant, listedName, ref, searchText, success, text } from "../../core/fields.ts";
import {
  type FeatureSettings,
  type FeatureType,
  featureTypes,
  policyFeatures,
} from "../../core/generated/policy-features.ts";
import { paged, pageOf, pageQuery } from "../../core/page.ts";
import { policyLevels, policyStatuses } from "../../core/policy-words.ts";

const ASSIGNMENTS_MAX = 500;

const settings = () => z.record(z.string(), z.unknown());
const owner = () => ({
  id: idOf("configuration-policy"),
  ownerScope: z.enum(["organization", "partner"]),
  orgId: idOf("organization").nullable(),
  orgName: listedName(),
  partnerId: idOf("partner").nullable(),
  name: z.string(),
  description: z.string().nullable(),
  status: z.enum(policyStatuses),
  version: z.int().describe("one more with every change"),
  createdBy: idOf("user").nullable(),
  createdAt: instant(),
  updatedAt: instant(),
});

const shownFeature = () => z.object({ id: idOf(), type: z.enum(featureTypes), settings: settings() });

const shownAssignment = () =>
  z.object({
    id: idOf(),
    level: z.enum(policyLevels),
    targetId: idOf().describe("device, group, site, organization or partner, as the level says"),
    targetName: z.string().nullable().describe("null: out of reach"),
    priority: z.int(),
    roleFilter: z.array(z.enum(deviceRoles)).nullable().describe("null: devices of every role"),
    osFilter: z.array(z.enum(osTypes)).nullable().describe("null: devices of every system"),
    assignedBy: idOf("user").nullable(),
    createdAt: instant(),
  });

/** A policy in a list, without its settings (docs/configuration-policies.md, "What people see"). */
const ListedPolicy = shape("ListedConfigurationPolicy", () =>
  z.object({ ...owner(), featureTypes: z.array(z.enum(featureTypes)), assignmentCount: z.int() }),
);

/** A policy as a whole (docs/configuration-policies.md, "Policies"). */
export const ConfigurationPolicy = shape("ConfigurationPolicy", () =>
  z.object({ ...owner(), features: z.array(shownFeature()), assignments: z.array(shownAssignment()) }),
);

const PolicyDetail = shape("ConfigurationPolicyDetail", () =>
  z.object({
    ...ConfigurationPolicy().shape,
    appliedDeviceCount: z
      .int()
      .describe("devices that it covers while it is active, whatever policy is closer to them"),
  }),
);

/** What holds for a device, type by type (docs/configuration-policies.md, "Which policy holds"). */
export const EffectiveSettings = shape("EffectiveSettings", () => {
  const effective = z.object({
    settings: settings().nullable(),
    sourcePolicyId: idOf("configuration-policy").nullable(),
    sourcePolicyName: z.string().nullable(),
    sourceLevel: z.enum([...policyLevels, "default"]),
    sourceTargetId: idOf().nullable(),
  });
  return z.object({ deviceId: idOf("device"), effective: z.record(z.enum(featureTypes), effective) });
});

type GivenFeature = { [T in FeatureType]: { type: T; settings: FeatureSettings<T> } }[FeatureType];

const given = (type: FeatureType) =>
  z.strictObject({ type: z.literal(type), settings: policyFeatures[type].settings() });

const givenFeature = () =>
  z.discriminatedUnion("type", featureTypes.map(given) as [ReturnType<typeof given>], {
    error: () => `must be one of ${featureTypes.join(", ")}`,
  }) as z.ZodType as z.ZodType<GivenFeature, { type: FeatureType; settings: Record<string, unknown> }>;

const givenFilter = <const W extends readonly [string, ...string[]]>(words: W) =>
  z.array(z.enum(words)).min(1).max(words.length).nullable().default(null);

const assignedTo = <L extends (typeof policyLevels)[number], T extends z.ZodType>(level: L, target: T) =>
  z.strictObject({
    level: z.literal(level).describe("what the target is"),
    targetId: target,
    priority: z.int().min(0).max(1000).default(0).describe("the lower one wins where the level is the same"),
    roleFilter: givenFilter(deviceRoles).describe("only devices of these roles; null: of every role"),
    osFilter: givenFilter(osTypes).describe("only devices of these systems; null: of every system"),
  });

const givenAssignment = () =>
  z.discriminatedUnion(
    "level",
    [
      assignedTo("device", ref("device").describe("device that it covers")),
      assignedTo("device_group", ref("device-group").describe("group whose devices it covers")),
      assignedTo("site", ref("site").describe("site whose devices it covers")),
      assignedTo("organization", ref("organization").describe("organization whose devices it covers")),
      assignedTo("partner", ref("partner").optional().describe("the partner that owns the policy")),
    ],
    { error: () => `must be one of ${policyLevels.join(", ")}` },
  );

const isOnce = (keys: readonly string[]): boolean => new Set(keys).size === keys.length;

const writable = () => ({
  name: text(255).meta({ description: "display name", example: "Elevation prompts" } satisfies FieldMeta),
  description: text(2000).nullable().describe("what it is for"),
  status: z.enum(policyStatuses).describe("only an active one holds"),
  features: z
    .array(givenFeature())
    .max(featureTypes.length)
    .refine((all) => isOnce(all.map(({ type }) => type)), "has a type twice")
    .meta({
      description: "settings by type: [{type, settings}]; replaced as a whole",
      example: [{ type: "pam", settings: { uacInterceptionEnabled: true } }],
    } satisfies FieldMeta),
  assignments: z
    .array(givenAssignment())
    .max(ASSIGNMENTS_MAX)
    .refine((all) => isOnce(all.map(({ level, targetId }) => `${level} ${targetId}`)), "has a target twice")
    .describe("what it covers: [{level, targetId, priority, roleFilter, osFilter}]; replaced as a whole"),
});

const whole = () => {
  const { name, description, status, features, assignments } = writable();
  return {
    name,
    description: description.default(null),
    status: status.default("active"),
    features: features.default([]),
    assignments: assignments.default([]),
  };
};

const version = () => z.int().min(1).optional().describe("refuses if the policy has another version by now");

const readers = staff().needs("devices:read");
const writers = staff().needs("devices:write").withMfa();
const refusals = [
  "NOT_FOUND",
  "SITE_ACCESS_DENIED",
  "FULL_PARTNER_ACCESS_REQUIRED",
  "ORG_READ_ONLY",
  "PERMISSION_DENIED",
] as const;
const changing = [...refusals, "TARGET_NOT_IN_SCOPE", "CONCURRENT_MODIFICATION"] as const;

const about: Noun = {
  name: "configuration-policies",
  summary: "Settings for devices, assigned from the whole partner down to one device",
  thing: "configuration-policy",
  kinds: { "configuration-policy": { names: ["name"], example: "Elevation prompts" } },
  audits: ["policy.create", "policy.update", "policy.delete", "policy.deactivate"],
};

export const configurationPolicies = resource(about, {
  list: get("/policies", {
    summary: "List configuration policies, newest first",
    description: "Of a whole partner's policies, members of an organization see those that cover it.",
    access: readers,
    errors: ["ORG_ACCESS_DENIED"],
    paging: paged,
    columns: ["name", "status", "featureTypes", "assignmentCount", "orgName", "id"],
    query: () =>
      z.object({
        ...pageQuery(),
        orgId: ref("organization").optional().describe("its own, and those of its partner that cover it"),
        status: z.enum(policyStatuses).optional().describe("only those of this status"),
        featureType: z.enum(featureTypes).optional().describe("only those that carry this type"),
        search: searchText().optional().describe("part of the name"),
      }),
    returns: () => pageOf(ListedPolicy()),
  }),
  create: create("/policies", {
    summary: "Create a configuration policy",
    access: writers,
    audit: "policy.create",
    errors: [
      ...(["ORG_ID_REQUIRED", "ORG_ACCESS_DENIED", "ORG_CONTEXT_REQUIRED", "PARTNER_ID_REQUIRED"] as const),
      ...(["PARTNER_ACCESS_DENIED", "FULL_PARTNER_ACCESS_REQUIRED", "SITE_ACCESS_DENIED", "ORG_READ_ONLY"] as const),
      ...(["PERMISSION_DENIED", "TARGET_NOT_IN_SCOPE", "LIMIT_REACHED"] as const),
    ],
    body: () =>
      z
        .object({
          ownerScope: z
            .enum(["organization", "partner"])
            .default("organization")
            .describe("partner: for devices of all its organizations; needs full partner access"),
          orgId: ref("organization").optional().describe("organization that it is for; default: your own"),
          partnerId: ref("partner").optional().describe("of a partner's policy, from a platform administrator"),
          ...whole(),
        })
        .refine(({ ownerScope, orgId }) => ownerScope === "organization" || orgId === undefined, {
          path: ["orgId"],
          message: "orgId: a partner's policy belongs to no organization",
        }),
    returns: ConfigurationPolicy,
  }),
  effective: get("/policies/effective/device/:deviceId", {
    summary: "Show the settings that hold for a device, and which policy says so",
    own: "effective settings by themselves, since there are no compliance rows to show beside them yet",
    access: readers,
    refs: { deviceId: "device" },
    errors: ["NOT_FOUND", "SITE_ACCESS_DENIED"],
    returns: EffectiveSettings,
  }),
  get: get("/policies/:id", {
    summary: "Show a configuration policy with its settings and what it covers",
    access: readers,
    errors: ["NOT_FOUND"],
    returns: PolicyDetail,
  }),
  replace: put("/policies/:id", {
    summary: "Replace a configuration policy; what is left out is emptied",
    access: writers,
    audit: "policy.update",
    errors: changing,
    body: () => z.object({ ...whole(), version: version() }),
    returns: ConfigurationPolicy,
  }),
  update: patch("/policies/:id", {
    summary: "Change a configuration policy; settings and assignments are replaced as a whole",
    access: writers,
    audit: "policy.update",
    errors: [...changing, "NO_UPDATES"],
    body: () => z.object({ ...writable(), version: version() }).partial(),
    returns: ConfigurationPolicy,
  }),
  remove: del("/policies/:id", {
    summary: "Delete a configuration policy with its settings and assignments",
    access: writers,
    audit: "policy.delete",
    errors: refusals,
    returns: success,
  }),
  deactivate: post("/policies/:id/deactivate", {
    summary: "Stop a configuration policy; it keeps its settings and assignments",
    access: writers,
    audit: "policy.deactivate",
    loses: "nothing",
    errors: [...refusals, "INVALID_STATE"],
    returns: ConfigurationPolicy,
  }),
});
