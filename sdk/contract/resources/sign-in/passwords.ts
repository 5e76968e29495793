import { z } from "zod";
import { open, staff } from "../../core/access.ts";
import { type Noun, post, resource } from "../../core/endpoint.ts";
import { email, secret, success } from "../../core/fields.ts";
import { passwordRule } from "../../core/password-rule.ts";
import { handedOutToken, TokenPair, typedPassword } from "./sessions.ts";

/** A new password, else `WEAK_PASSWORD`. */
export const newPassword = () => secret(z.string()).describe(passwordRule);

const about: Noun = {
  name: "passwords",
  summary: "Forgotten, reset and changed passwords",
  audits: ["user.password.change", "user.password.reset"],
};

export const passwords = resource(about, {
  forgot: post("/auth/forgot-password", {
    summary: "Send a link to reset a forgotten password",
    description: "Answers the same whether or not the account exists.",
    access: open(),
    audit: { none: "changes no account; the reset is audited as user.password.reset" },
    loses: "nothing",
    body: () => z.object({ email: email().describe("address of the account") }),
    returns: () => z.object({ ...success().shape, message: z.string() }),
  }),
  reset: post("/auth/reset-password", {
    summary: "Set a new password with the token of a reset link",
    description: "Single use. Ends all sessions of the account; its second factor stays.",
    access: open(),
    audit: "user.password.reset",
    loses: "nothing",
    errors: ["INVALID_TOKEN", "WEAK_PASSWORD", "SSO_REQUIRED"],
    body: () => z.object({ token: handedOutToken().describe("token of the mailed link"), password: newPassword() }),
    returns: success,
  }),
  change: post("/auth/change-password", {
    summary: "Change your password",
    description: "Your other sessions end; this one goes on with the tokens in the answer.",
    access: staff().exemptFrom("partnerGuard", "mfaEnrollment"),
    audit: "user.password.change",
    loses: "nothing",
    errors: [
      "PASSWORD_LOGIN_UNAVAILABLE",
      "INVALID_PASSWORD",
      "SSO_REQUIRED",
      "WEAK_PASSWORD",
      "HOME_SESSION_REQUIRED",
    ],
    body: () =>
      z.object({ currentPassword: typedPassword().describe("your current password"), newPassword: newPassword() }),
    returns: () => z.object({ ...success().shape, ...TokenPair().shape }),
  }),
});
