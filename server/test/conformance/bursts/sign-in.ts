import { loginPerAddress } from "#server/features/sign-in/core/login-limits";
import { caseOf } from "../cases.ts";
import { ADDRESS, always, type Burst, UNKNOWN, useUp } from "./burst.ts";

export const signInBursts: readonly Burst[] = [
  {
    limit: "mfa",
    noun: "mfa",
    left: 5,
    async ready(swept) {
      const ready = await swept.prepared(caseOf("mfa.stepUp"), await swept.freshTenant());
      return always("mfa.stepUp", { ...ready, body: { code: "000000" } });
    },
  },
  {
    limit: "confirm-password",
    noun: "passwords",
    left: 5,
    async ready(swept) {
      const ready = await swept.prepared(caseOf("passwords.change"), await swept.freshTenant());
      return always("passwords.change", {
        ...ready,
        body: { currentPassword: UNKNOWN, newPassword: "Correct-Horse-2" },
      });
    },
  },
  {
    limit: "login-email",
    noun: "sessions",
    byAddress: true,
    left: 5,
    async ready(swept) {
      const ready = await swept.prepared(caseOf("sessions.login"), await swept.freshTenant());
      return always("sessions.login", { ...ready, body: { email: ready.person?.email, password: UNKNOWN } });
    },
  },
  {
    limit: "login-ip",
    noun: "sessions",
    byAddress: true,
    left: 8,
    async ready(swept) {
      await useUp(swept, loginPerAddress, ADDRESS, 8);
      const item = caseOf("sessions.login");
      return (number) => ({
        item,
        options: { tenant: swept.world.a, body: { email: `nobody-${number}@nowhere.example`, password: UNKNOWN } },
      });
    },
  },
  {
    limit: "refresh",
    noun: "sessions",
    left: 30,
    async ready(swept) {
      const ready = await swept.prepared(caseOf("sessions.refresh"), await swept.freshTenant());
      const spent = await swept.call(caseOf("sessions.refresh"), ready);
      if (spent.status !== 200) throw new Error(`the token was not spent: ${JSON.stringify(spent.body)}`);
      return always("sessions.refresh", ready);
    },
  },
  {
    limit: "forgot-password",
    noun: "passwords",
    byAddress: true,
    left: 3,
    async ready(swept) {
      await swept.db.deleteFrom("jobs").execute();
      const { email } = await swept.caller("partner", swept.world.b);
      return always("passwords.forgot", { tenant: swept.world.a, body: { email } });
    },
    // All requests get the same answer; the queued jobs show how many were admitted.
    async admitted(swept) {
      const jobs = swept.db.selectFrom("jobs").select("id").where("kind", "=", "passwords.forgot");
      return (await jobs.execute()).length;
    },
  },
  {
    limit: "sso-discovery",
    noun: "sso-logins",
    byAddress: true,
    left: 20,
    ready: async (swept) => always("ssoLogins.discover", { tenant: swept.world.a }),
  },
  {
    limit: "sso-start-target",
    noun: "sso-logins",
    byAddress: true,
    left: 10,
    ready: async (swept) => always("ssoLogins.start", { tenant: swept.world.a }),
  },
  {
    limit: "sso-start-ip",
    noun: "sso-logins",
    byAddress: true,
    left: 30,
    async ready(swept) {
      const item = caseOf("ssoLogins.start");
      const { random } = swept.server.services;
      return () => ({ item, options: { tenant: swept.world.a, params: { orgId: random.uuid() } } });
    },
  },
];
