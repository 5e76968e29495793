import { plainDevice } from "#fixtures/nouns/fleet/devices";
import { caseOf } from "../cases.ts";
import type { Burst } from "./burst.ts";

export const remoteBursts: readonly Burst[] = [
  {
    limit: "live-device",
    noun: "processes",
    left: 3,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      // Two persons, so that none meets the limit of a user.
      const permissions = ["devices:read", "devices:write"] as const;
      const callers = await Promise.all(
        permissions.map((_, n) => swept.caller("partner", tenant, { permissions: permissions.slice(0, n + 1) })),
      );
      const item = caseOf("processes.list");
      return (number) => {
        const token = callers[Math.floor(number / 2) % 2]?.token;
        return { item, options: { tenant, token, silentAgent: true } };
      };
    },
  },
  {
    limit: "live-user",
    noun: "processes",
    left: 5,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token } = await swept.caller("partner", tenant);
      const { random, clock } = swept.server.services;
      const devices = Array.from({ length: 7 }, (_, n) => ({
        ...plainDevice(clock.now()),
        id: random.uuid(),
        orgId: tenant.orgId,
        siteId: tenant.siteId,
        agentId: random.bytes(32).toString("hex"),
        hostname: `asked-${n}`,
      }));
      await swept.db.insertInto("devices").values(devices).execute();
      const item = caseOf("processes.list");
      return (number) => {
        const deviceId = devices[number % devices.length]?.id as string;
        return { item, options: { tenant, token, params: { deviceId }, silentAgent: true } };
      };
    },
  },
];
