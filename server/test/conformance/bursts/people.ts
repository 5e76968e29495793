import { caseOf } from "../cases.ts";
import { always, type Burst } from "./burst.ts";

export const peopleBursts: readonly Burst[] = [
  {
    limit: "api",
    noun: "users",
    left: 40,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      return always("users.me", { tenant, ...(await swept.credential(caseOf("users.me"), tenant)) });
    },
  },
  {
    limit: "accept-invite",
    noun: "users",
    byAddress: true,
    left: 10,
    ready: async (swept) => always("users.acceptInvite", { tenant: swept.world.a }),
  },
];
