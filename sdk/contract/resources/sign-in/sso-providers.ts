import { z } from "zod";
import { staff } from "../../core/access.ts";
import { asciiDomain } from "../../core/email.ts";
import { create, del, get, type Noun, patch, post, resource, shape } from "../../core/endpoint.ts";
import {
  blankable,
  type FieldMeta,
  instant,
  listedName,
  ref,
  secret,
  success,
  text,
  webAddress,
} from "../../core/fields.ts";
import { whole, wholeOf } from "../../core/page.ts";

export const ssoProviderTypes = ["oidc", "saml"] as const;
/** The ways to present a client secret that this server has; the first is preferred. */
export const tokenAuthMethods = ["client_secret_basic", "client_secret_post"] as const;
export const ssoProviderStatuses = ["inactive", "testing", "active"] as const;

/** Which claim, or attribute of an assertion, fills a field. */
export const AttributeMapping = shape("AttributeMapping", () =>
  z.strictObject({
    email: text(255),
    name: text(255),
    firstName: text(255).optional(),
    lastName: text(255).optional(),
    groups: text(255).optional().describe("claim with an array of strings"),
  }),
);

/** Template of a common provider, with placeholders in braces (docs/single-sign-on.md, "Presets"). */
export const SsoPreset = shape("SsoPreset", () =>
  z.strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,99}$/, "must be of a-z, 0-9 and -"),
    name: text(255),
    type: z.enum(ssoProviderTypes),
    issuerTemplate: z.string().max(2048).optional(),
    ssoUrlTemplate: z.string().max(2048).optional(),
    metadataUrlTemplate: z.string().max(2048).optional(),
    scopes: z.string().max(1000).optional(),
    attributeMapping: AttributeMapping(),
  }),
);

/** Identity provider of an organization or a partner (docs/single-sign-on.md, "Identity providers"). */
export const SsoProvider = shape("SsoProvider", () =>
  z.object({
    id: z.string(),
    ownerScope: z.enum(["organization", "partner"]),
    orgId: z.string().nullable(),
    orgName: listedName(),
    partnerId: z.string().nullable(),
    name: z.string(),
    type: z.enum(ssoProviderTypes),
    preset: z.string().nullable(),
    issuer: z.string().nullable(),
    clientId: z.string().nullable(),
    hasClientSecret: z.boolean(),
    scopes: z.string(),
    attributeMapping: AttributeMapping(),
    autoProvision: z.boolean(),
    defaultRoleId: z.string().nullable(),
    defaultRoleConfiguredBy: z.string().nullable().describe("user whose permissions limit the default role"),
    allowedDomains: z.string().nullable(),
    enforceSSO: z.boolean(),
    trustsIdpMfa: z.boolean(),
    status: z.enum(ssoProviderStatuses),
    authorizationUrl: z.string().nullable(),
    tokenUrl: z.string().nullable(),
    userInfoUrl: z.string().nullable(),
    jwksUrl: z.string().nullable(),
    ownCallback: z.boolean(),
    entityId: z.string().nullable(),
    ssoUrl: z.string().nullable(),
    certificate: z.string().nullable(),
    configVersion: z.int(),
    createdBy: z.string().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  }),
);

/** Space-separated, once each. */
const scopeText = () =>
  z
    .string()
    .max(1000)
    .transform((value) => [...new Set(value.split(/\s+/).filter(Boolean))].join(" "))
    .refine((value) => /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(value), "must name scopes")
    .meta({ published: { type: "string", maxLength: 1000 } } satisfies FieldMeta);

/** Comma-separated email domains, lower-cased, once each; blank reads as null: every domain. */
const domainsText = () =>
  z
    .string()
    .max(1000)
    .nullable()
    .transform((value) => {
      const domains = (value ?? "").toLowerCase().split(",");
      const named = domains.map((domain) => domain.trim().replace(/^@/, "")).filter(Boolean);
      return [...new Set(named.map((domain) => asciiDomain(domain) ?? ""))];
    })
    .refine((domains) => !domains.includes(""), "must be domains, separated by commas")
    .transform((domains) => (domains.length === 0 ? null : domains.join(",")))
    .meta({ published: { type: ["string", "null"], maxLength: 1000 } } satisfies FieldMeta);

const writable = () => ({
  name: text(255).meta({ description: "display name", example: "Contoso Entra ID" } satisfies FieldMeta),
  type: z.enum(ssoProviderTypes).describe("protocol it speaks"),
  issuer: webAddress().nullable().describe("for oidc: the endpoints are discovered from it"),
  clientId: blankable(500).describe("client id from the provider"),
  clientSecret: secret(z.string().min(1).max(2000)).nullable().describe("client secret from the provider"),
  scopes: scopeText().nullable().describe("space-separated; null: the preset's"),
  attributeMapping: AttributeMapping().nullable().describe("null: the preset's"),
  autoProvision: z.boolean().describe("create users at their first sign-in; only for providers of an organization"),
  defaultRoleId: ref("role").nullable().describe("role of users created at their first sign-in"),
  allowedDomains: domainsText().describe("comma-separated email domains; null: every domain"),
  enforceSSO: z.boolean().describe("refuse passwords while the provider is active"),
  trustsIdpMfa: z.boolean().describe("trust the provider's claim that a second factor was used"),
  authorizationUrl: webAddress().nullable().describe("authorization endpoint, if not discovered"),
  tokenUrl: webAddress().nullable().describe("token endpoint, if not discovered"),
  userInfoUrl: webAddress().nullable().describe("userinfo endpoint, if not discovered"),
  jwksUrl: webAddress().nullable().describe("JWKS address, if not discovered"),
  ownCallback: z.boolean().describe("use /api/v1/sso/callback/ID as redirect URI instead of the shared one"),
  entityId: blankable(500).describe("entity id of a SAML provider"),
  ssoUrl: webAddress(500).nullable().describe("sign-in address of a SAML provider"),
  certificate: blankable(20_000).describe("signing certificate of a SAML provider, in PEM"),
});

const writers = staff().needs("organizations:write").withMfa();
const reached = ["NOT_FOUND", "SITE_ACCESS_DENIED", "FULL_PARTNER_ACCESS_REQUIRED", "ORG_READ_ONLY"] as const;

const about: Noun = {
  name: "sso-providers",
  summary: "Identity providers people sign in through",
  thing: "sso-provider",
  kinds: { "sso-provider": { names: ["name"], example: "Contoso Entra ID" } },
  audits: [
    "sso.provider.create",
    "sso.provider.update",
    "sso.provider.delete",
    "sso.provider.status.update",
    "sso.provider.test",
  ],
};

export const ssoProviders = resource(about, {
  presets: get("/sso/presets", {
    summary: "List presets of common identity providers",
    access: staff(),
    paging: whole,
    columns: ["id", "name", "type", "issuerTemplate", "scopes"],
    returns: () => wholeOf(SsoPreset()),
  }),
  list: get("/sso/providers", {
    summary: "List identity providers, oldest first",
    access: staff(),
    errors: ["ORG_ACCESS_DENIED", "PARTNER_SCOPE_REQUIRED"],
    paging: whole,
    columns: ["name", "status", "type", "orgName", "issuer", "enforceSSO", "id"],
    query: () =>
      z.object({
        orgId: ref("organization").optional().describe("only those of this organization"),
        scope: z.enum(["partner"]).optional().describe("only the partner's own provider"),
      }),
    returns: () => wholeOf(SsoProvider()),
  }),
  create: create("/sso/providers", {
    summary: "Create an identity provider",
    description:
      "It begins `inactive`. The endpoints of an oidc provider are discovered from its issuer; where that fails, " +
      "`discoveryError` says why and the provider is created anyway.",
    access: writers,
    audit: "sso.provider.create",
    errors: [
      "ORG_ACCESS_DENIED",
      "ORG_CONTEXT_REQUIRED",
      "ORG_ID_REQUIRED",
      "SITE_ACCESS_DENIED",
      "PARTNER_SCOPE_REQUIRED",
      "FULL_PARTNER_ACCESS_REQUIRED",
      "UNKNOWN_PRESET",
      "INVALID_DEFAULT_ROLE",
      "ROLE_EXCEEDS_CALLER",
      "UNSAFE_URL",
      "ORG_READ_ONLY",
    ],
    body: () => {
      const { name, type, autoProvision, enforceSSO, trustsIdpMfa, ownCallback, ...others } = writable();
      return z.strictObject({
        ownerScope: z.enum(["organization", "partner"]).default("organization").describe("who owns the provider"),
        orgId: ref("organization").optional().describe("for a provider of an organization; default: your own"),
        preset: text(100).optional().describe("template to start from: see `rmm sso-providers presets`"),
        name,
        type,
        ...z.object(others).partial().shape,
        autoProvision: autoProvision.default(true),
        enforceSSO: enforceSSO.default(false),
        trustsIdpMfa: trustsIdpMfa.default(false),
        ownCallback: ownCallback.default(false),
      });
    },
    returns: () => SsoProvider().extend({ discoveryError: z.string().optional() }),
  }),
  get: get("/sso/providers/:id", {
    summary: "Show an identity provider",
    access: staff(),
    errors: ["NOT_FOUND"],
    returns: SsoProvider,
  }),
  update: patch("/sso/providers/:id", {
    summary: "Change an identity provider",
    description:
      "Sign-ins in progress end. Null clears a field. If a changed issuer cannot be discovered, nothing is saved. Another issuer or token address takes the client secret again: without it, it is cleared.",
    access: writers,
    audit: "sso.provider.update",
    errors: [
      ...reached,
      "INVALID_DEFAULT_ROLE",
      "ROLE_EXCEEDS_CALLER",
      "UNSAFE_URL",
      "OIDC_DISCOVERY_FAILED",
      "OIDC_ISSUER_REQUIRED",
      "PROVIDER_INCOMPLETE",
      "CONCURRENT_MODIFICATION",
    ],
    body: () => z.strictObject(writable()).partial(),
    returns: SsoProvider,
  }),
  remove: del("/sso/providers/:id", {
    summary: "Delete an identity provider with the identities linked to it",
    access: writers,
    audit: "sso.provider.delete",
    errors: reached,
    returns: success,
  }),
  setStatus: post("/sso/providers/:id/status", {
    summary: "Set an identity provider active, testing or inactive",
    description: "Only an active one signs people in. Any status may follow any other.",
    access: writers,
    audit: "sso.provider.status.update",
    loses: "nothing",
    errors: [...reached, "PROVIDER_INCOMPLETE", "CONCURRENT_MODIFICATION"],
    body: () => z.strictObject({ status: z.enum(ssoProviderStatuses).describe("status to change to") }),
    returns: SsoProvider,
  }),
  test: post("/sso/providers/:id/test", {
    summary: "Try what a sign-in through an identity provider will use",
    description:
      "Reads the discovery document and, once the provider is complete, presents the client secret as a sign-in will. `details.reason` of a refusal says what cannot work.",
    access: writers,
    audit: "sso.provider.test",
    loses: "nothing",
    errors: [...reached, "OIDC_DISCOVERY_FAILED", "CONCURRENT_MODIFICATION"],
    returns: () =>
      z.object({
        success: z.literal(true),
        discovery: z.object({
          issuer: z.string(),
          authorizationEndpoint: z.string(),
          tokenEndpoint: z.string(),
          userInfoEndpoint: z.string().nullable(),
          jwksUri: z.string(),
        }),
        signIn: z.object({
          missing: z
            .array(z.string())
            .describe("missing fields that a sign-in requires; until they are set only discovery is tested"),
          tokenAuthMethod: z.enum(tokenAuthMethods).describe("how the client secret is sent"),
          idTokenAlgorithms: z.array(z.string()),
          callbackUrl: z
            .string()
            .nullable()
            .describe("redirect URI to register at the provider; null if PUBLIC_URL is not set"),
        }),
      }),
  }),
});
