import { z } from "zod";
import { open, staff } from "../../core/access.ts";
import { type Noun, post, resource, shape } from "../../core/endpoint.ts";
import { secret, success } from "../../core/fields.ts";
import { handedOutToken, SignedIn, TokenPair, typedPassword } from "./sessions.ts";

/** Ten single-use codes, shown once. */
const RecoveryCodes = shape("RecoveryCodes", () => z.object({ recoveryCodes: secret(z.array(z.string())) }));

/** A pending second factor; it takes effect with `POST /auth/mfa/enable` within 10 minutes. */
export const MfaSetup = shape("MfaSetup", () =>
  z.object({
    secret: secret(),
    otpAuthUrl: secret(),
    qrCodeDataUrl: secret(),
    recoveryCodes: secret(z.array(z.string())),
  }),
);

const code = () => secret(z.string().trim().min(1).max(64)).describe("six digits, or a recovery code");
const method = () => z.enum(["totp", "recovery"]).optional().describe("what the code is; otherwise told by its form");
const currentPassword = () => typedPassword().optional().describe("omit only for an account without a password");
const self = staff().exemptFrom("partnerGuard", "mfaEnrollment");

/** The factor is the person's in every tenant (docs/sign-in.md, "Home sessions"). */
const personal = ["HOME_SESSION_REQUIRED", "reauth_required"] as const;

const about: Noun = {
  name: "mfa",
  summary: "Second factor: set up, prove, turn off, recovery codes",
  audits: [
    "auth.mfa.setup",
    "auth.mfa.disable",
    "auth.mfa.stepup.granted",
    "auth.mfa.stepup.failed",
    "auth.mfa.recovery_codes.rotate",
    "auth.mfa.recovery_code.used",
    "user.login",
    "user.mfa_reset",
  ],
};

export const mfa = resource(about, {
  verify: post("/auth/mfa/verify", {
    summary: "Finish a sign-in with the second factor",
    description: "The temporary token ends after success, five failures or any change of the factor.",
    access: open(),
    emits: ["user.login"],
    audit: "user.login",
    loses: "nothing",
    errors: ["MFA_SESSION_EXPIRED", "INVALID_MFA_CODE", "INVALID_INVITE", "SSO_REQUIRED"],
    body: () =>
      z.object({
        tempToken: handedOutToken().describe("token of the sign-in that waits for a second factor"),
        code: code(),
        method: method(),
      }),
    returns: SignedIn,
  }),
  setup: post("/auth/mfa/setup", {
    summary: "Start setting up a second factor",
    access: self,
    audit: { none: "pending until enabled, which is audited as auth.mfa.setup" },
    loses: "nothing",
    idempotent: true,
    errors: ["MFA_ALREADY_ENABLED", "INVALID_PASSWORD", ...personal],
    bodyOptional: true,
    body: () => z.object({ currentPassword: currentPassword() }),
    returns: MfaSetup,
  }),
  enable: post("/auth/mfa/enable", {
    summary: "Turn the pending second factor on",
    description: "This session becomes MFA-satisfied; your other sessions end.",
    access: self,
    emits: ["user.mfa.enabled"],
    audit: "auth.mfa.setup",
    loses: "nothing",
    idempotent: true,
    errors: ["NO_PENDING_MFA_SETUP", "INVALID_MFA_CODE", "HOME_SESSION_REQUIRED"],
    body: () => z.object({ code: code() }),
    returns: () => z.object({ ...success().shape, ...RecoveryCodes().shape, ...TokenPair().shape }),
  }),
  stepUp: post("/auth/mfa/step-up", {
    summary: "Prove the second factor for this session",
    access: self,
    audit: "auth.mfa.stepup.granted",
    loses: "nothing",
    errors: ["MFA_NOT_ENABLED", "INVALID_MFA_CODE"],
    body: () => z.object({ code: code(), method: method() }),
    returns: TokenPair,
  }),
  disable: post("/auth/mfa/disable", {
    summary: "Turn your second factor off",
    access: self.withMfa(),
    audit: "auth.mfa.disable",
    loses: "secret",
    errors: ["MFA_NOT_ENABLED", "INVALID_MFA_CODE", "INVALID_PASSWORD", "MFA_REQUIRED_BY_POLICY", ...personal],
    body: () => z.object({ code: code(), currentPassword: currentPassword() }),
    returns: success,
  }),
  recoveryCodes: post("/auth/mfa/recovery-codes", {
    summary: "Replace all recovery codes",
    access: self.withMfa(),
    audit: "auth.mfa.recovery_codes.rotate",
    loses: "secret",
    idempotent: true,
    errors: ["MFA_NOT_ENABLED", "INVALID_PASSWORD", ...personal],
    bodyOptional: true,
    body: () => z.object({ currentPassword: currentPassword() }),
    returns: RecoveryCodes,
  }),
});
