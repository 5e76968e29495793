import { z } from "zod";
import { open, staff } from "../../core/access.ts";
import { get, type Noun, post, resource, shape } from "../../core/endpoint.ts";
import { email, secret } from "../../core/fields.ts";
import { whole, wholeOf } from "../../core/page.ts";
import { handedOutToken, TokenPair } from "./sessions.ts";

const providerType = () => z.enum(["oidc", "saml"]);

/** The button of a login page: where it leads, and whether there is another way in. */
const SsoButton = shape("SsoButton", () =>
  z.object({
    providerName: z.string(),
    loginUrl: z.string().describe("path on this server that starts the sign-in"),
    enforceSSO: z.boolean().describe("passwords are refused"),
  }),
);

/** What an organization's sign-in offers. */
const SsoCheck = shape("SsoCheck", () =>
  z.discriminatedUnion("ssoEnabled", [
    z.object({ ssoEnabled: z.literal(false) }),
    z.object({
      ssoEnabled: z.literal(true),
      provider: z.object({ id: z.string(), name: z.string(), type: providerType() }),
      enforceSSO: z.boolean(),
      loginUrl: z.string(),
    }),
  ]),
);

const LoginContext = shape("LoginContext", () =>
  z.object({
    branding: z
      .object({ logoUrl: z.string().nullable(), accentColor: z.string().nullable(), headline: z.string().nullable() })
      .nullable(),
    partnerSso: SsoButton().nullable(),
  }),
);

const Redirected = shape("Redirected", () => z.object({ location: z.string() }));

const challenge = () => z.string().regex(/^[A-Za-z0-9_-]{43}$/, "must be a SHA-256 in base64url");

const callback = {
  description: "Always a redirect: to the page with `#ssoCode=…`, or to `/login?error=<code>`.",
  access: open(),
  mayEmit: ["user.login"],
  transport: "redirect",
  query: () =>
    z.object({
      code: secret(z.string()).optional().describe("authorization code of the provider"),
      state: z.string().optional().describe("state parameter of the sign-in"),
      iss: z.string().optional().describe("issuer of the response"),
      error: z.string().optional().describe("error code of the provider"),
    }),
  returns: () => z.object({ location: secret() }),
} as const;

/** Where to go on after signing in: a path of this server, else `/`. */
const start = {
  access: open(),
  transport: "redirect",
  errors: ["NO_ACTIVE_SSO_PROVIDER", "PROVIDER_INVALID", "NOT_CONFIGURED"],
  query: () =>
    z.object({
      redirect: z
        .string()
        .optional()
        .describe("path on this server to redirect to after the sign-in; any other value redirects to /"),
      challenge: challenge().optional().describe("base64url SHA-256 of a verifier that the exchange must send"),
    }),
  returns: Redirected,
} as const;

const about: Noun = {
  name: "sso-logins",
  summary: "Sign-in through an identity provider, and attaching one to your account",
  audits: ["sso.identity.linked", "sso.identity.link_rejected", "sso.callback.rejected", "sso.break_glass.login"],
};

/** Signing in through an identity provider, and linking one to an account (docs/single-sign-on.md). */
export const ssoLogins = resource(about, {
  check: get("/sso/check/:orgId", {
    summary: "Show whether an organization has single sign-on",
    access: open(),
    refs: { orgId: "organization" },
    returns: SsoCheck,
  }),
  discover: post("/auth/sso-discovery", {
    loses: "nothing",
    summary: "Find the sign-in of an email address",
    description: "Looks at the domain alone: real and invented addresses get the same answer. 20 a minute per client.",
    access: open(),
    audit: { none: "reads only" },
    body: () => z.strictObject({ email: email().describe("address of who wants to sign in") }),
    returns: () => z.object({ sso: SsoButton().nullable() }),
  }),
  context: get("/auth/login-context", {
    summary: "Show branding and sign-in of a server with a single partner",
    access: open(),
    returns: LoginContext,
  }),
  start: get("/sso/login/:orgId", {
    refs: { orgId: "organization" },
    ...start,
    summary: "Start signing in to an organization",
    description: "Sends the browser to the identity provider, with a cookie that it must bring back.",
  }),
  startForPartner: get("/sso/login/partner/:partnerId", {
    refs: { partnerId: "partner" },
    ...start,
    summary: "Start signing in to a partner",
    description: "As for an organization. No account is created: signing in needs an invitation.",
  }),
  callback: get("/sso/callback", {
    ...callback,
    summary: "Receive the browser from the identity provider",
  }),
  callbackOfProvider: get("/sso/callback/:providerId", {
    refs: { providerId: "sso-provider" },
    ...callback,
    own: "the callback of a provider that has an address of its own, beside the one that is specified",
    summary: "Receive the browser from a provider with a callback address of its own",
  }),
  exchange: post("/sso/exchange", {
    loses: "nothing",
    summary: "Trade the one-time code of a sign-in for its tokens",
    description: "Two minutes, once. A sign-in that began with a challenge takes its verifier.",
    access: open(),
    audit: { none: "the sign-in itself is audited as user.login when the identity provider answers" },
    errors: ["INVALID_EXCHANGE_CODE"],
    body: () =>
      z.strictObject({
        code: handedOutToken().describe("one-time code of the sign-in"),
        verifier: handedOutToken().optional().describe("what the challenge of the sign-in was made from"),
      }),
    returns: TokenPair,
  }),
  linkOptions: get("/sso/link/options", {
    summary: "List the identity providers you can attach to your account",
    access: staff("organization", "partner"),
    paging: whole,
    columns: ["name", "type", "linked", "id"],
    returns: () => wholeOf(z.object({ id: z.string(), name: z.string(), type: providerType(), linked: z.boolean() })),
  }),
  startLink: post("/sso/link/start/:providerId", {
    summary: "Start attaching an identity provider to your account",
    description:
      "The answer sets a cookie: open `authUrl` in the same browser. It ends at /settings/profile with `?ssoLinked=1` or `?ssoLinkError=<reason>`.",
    access: staff("organization", "partner").withMfa(),
    audit: { none: "audited as sso.identity.linked or sso.identity.link_rejected when the identity provider answers" },
    loses: "nothing",
    refs: { providerId: "sso-provider" },
    errors: ["PROVIDER_INVALID", "NOT_CONFIGURED", "HOME_SESSION_REQUIRED"],
    returns: () => z.object({ authUrl: z.string() }),
  }),
  cliPage: get("/sso/cli", {
    summary: "A page that hands the one-time code to the waiting command line",
    access: open(),
    transport: "html",
    query: () =>
      z.object({
        port: z.string().optional().describe("port that the command listens on"),
        state: z.string().optional().describe("state that the command gave the sign-in"),
      }),
    returns: () => z.string(),
  }),
});
