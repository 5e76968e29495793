import { z } from "zod";
import { told } from "./define.ts";

export const peopleEvents = {
  "user.login": told("user", "A person signed in.", () => ({
    method: z.enum(["password", "invite", "sso"]),
    mfa: z.boolean().describe("with a second factor"),
  })),
  "user.logout": told("user", "A person ended a session.", () => ({ allSessions: z.boolean() })),
  "user.invited": told("user", "A person was invited; until they accept, the id is that of the invitation."),
  "user.removed": told("user", "A person left, or declined the invitation.", () => ({ declined: z.boolean() })),
  "user.mfa.enabled": told("user", "A person has a second factor."),
};
