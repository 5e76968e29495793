import { loginBranding } from "#contract/resources/sign-in/login-branding";
import { user } from "#server/access/principal";
import { implement } from "#server/http/implement";
import { problem } from "#server/problem";
import { brandingOf } from "./queries.ts";
import { replaceBranding } from "./replace.ts";

export const routes = implement(loginBranding, {
  get: async (call) => {
    const { partnerId } = user(call);
    if (partnerId === null) throw problem("PARTNER_CONTEXT_REQUIRED");
    return brandingOf(call.db, partnerId);
  },
  replace: replaceBranding,
});
