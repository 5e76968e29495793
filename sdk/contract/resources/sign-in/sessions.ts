import { z } from "zod";
import { open, staff } from "../../core/access.ts";
import { del, get, type Noun, post, resource, shape } from "../../core/endpoint.ts";
import { email, instant, secret, success } from "../../core/fields.ts";
import { whole, wholeOf } from "../../core/page.ts";

/** Access token (JWT, 15 minutes) and single-use refresh token (7 days) (docs/sign-in.md, "Tokens"). */
export const TokenPair = shape("TokenPair", () =>
  z.object({
    accessToken: secret(),
    refreshToken: secret(),
    tokenType: z.literal("Bearer"),
    expiresIn: z.int().describe("seconds until the access token expires"),
  }),
);

/** The caller as sign-in answers it. */
export const MeLite = shape("MeLite", () =>
  z.object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    avatarUrl: z.string().nullable(),
    mfaEnabled: z.boolean(),
    isPlatformAdmin: z.boolean(),
    scope: z.enum(["organization", "partner", "system"]),
    partnerId: z.string().nullable(),
    orgId: z.string().nullable(),
  }),
);

/** A finished sign-in. */
export const SignedIn = shape("SignedIn", () =>
  z.object({
    ...TokenPair().shape,
    user: MeLite(),
    mfaRequired: z.literal(false),
    mfaEnrollmentRequired: z.boolean().describe("a second factor must be set up before any other call"),
  }),
);

/** Right password of an enrolled user: no tokens yet, finish with `POST /auth/mfa/verify`. */
export const SecondFactorNeeded = shape("SecondFactorNeeded", () =>
  z.object({
    mfaRequired: z.literal(true),
    tempToken: secret(),
    mfaMethods: z.array(z.enum(["totp", "recovery"])),
    expiresIn: z.int().describe("seconds until the temporary token expires"),
  }),
);

/** One session: a sign-in and its refresh tokens (docs/sign-in.md, "Sessions"). */
export const Session = shape("Session", () =>
  z.object({
    id: z.string(),
    createdAt: instant(),
    lastUsedAt: instant(),
    ipAddress: z.string().nullable(),
    userAgent: z.string().nullable(),
    mfaVerified: z.boolean(),
    current: z.boolean(),
  }),
);

/** A password as typed; the rule for new ones is `WEAK_PASSWORD`'s business, not the schema's. */
export const typedPassword = () => secret(z.string().min(1).max(1024));
/** A token as handed out: refresh, temporary, reset or invitation. */
export const handedOutToken = () => secret(z.string().trim().min(1).max(512));

const self = staff().exemptFrom("partnerGuard", "mfaEnrollment");

const about: Noun = {
  name: "sessions",
  summary: "Sign in, refresh, sign out and see where you are signed in",
  thing: "session",
  kinds: { session: { label: "userAgent" } },
  audits: ["user.login", "user.login.failed", "user.logout", "auth.refresh.reuse_detected"],
};

export const sessions = resource(about, {
  login: post("/auth/login", {
    summary: "Sign in with email and password",
    description:
      "Every refusal is the same 401, whatever the reason. An enrolled user gets a temporary token for the second factor.",
    access: open(),
    mayEmit: ["user.login"],
    audit: "user.login",
    loses: "nothing",
    errors: ["INVALID_CREDENTIALS"],
    body: () =>
      z.object({
        email: email().describe("address of your account"),
        password: typedPassword().describe("password of your account"),
      }),
    returns: () => z.discriminatedUnion("mfaRequired", [SignedIn(), SecondFactorNeeded()]),
  }),
  refresh: post("/auth/refresh", {
    summary: "Exchange a refresh token for a new token pair",
    description: "Each refresh token works once. A spent one replayed after 10 seconds revokes the whole session.",
    access: open(),
    audit: { none: "renews a session that is already on record; reuse is audited as auth.refresh.reuse_detected" },
    loses: "nothing",
    errors: ["INVALID_REFRESH_TOKEN", "REFRESH_RACED"],
    body: () => z.object({ refreshToken: handedOutToken().describe("refresh token to exchange") }),
    returns: TokenPair,
  }),
  logout: post("/auth/logout", {
    summary: "End this session, or all of yours",
    access: self,
    emits: ["user.logout"],
    audit: "user.logout",
    loses: "nothing",
    errors: ["HOME_SESSION_REQUIRED"],
    bodyOptional: true,
    body: () => z.object({ allSessions: z.boolean().optional().describe("end all sessions, not only this one") }),
    returns: success,
  }),
  list: get("/auth/sessions", {
    summary: "List your signed-in sessions",
    access: self,
    paging: whole,
    columns: ["createdAt", "lastUsedAt", "ipAddress", "userAgent", "mfaVerified", "current", "id"],
    returns: () => wholeOf(Session()),
  }),
  remove: del("/auth/sessions/:id", {
    summary: "End one of your sessions",
    access: self,
    emits: ["user.logout"],
    audit: "user.logout",
    errors: ["NOT_FOUND"],
    returns: success,
  }),
});
