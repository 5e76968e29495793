import { plainElevation } from "#fixtures/nouns/access-control/elevation-requests";
import { challengeLimit } from "#server/features/access-control/approver-devices/rules";
import { reportLimit } from "#server/features/access-control/elevation-requests/report";
import { cheapHash } from "../../cheap-password.ts";
import { always, type Burst, UNKNOWN, useUp } from "./burst.ts";

export const elevationBursts: readonly Burst[] = [
  {
    limit: "elevation-report",
    noun: "elevation-requests",
    left: 3,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      await useUp(swept, reportLimit, tenant.deviceId, 3);
      return always("elevationRequests.report", { tenant, token: tenant.agentToken });
    },
  },
  {
    limit: "elevation-reauth",
    noun: "elevation-requests",
    left: 5,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { userId, token } = await swept.caller("partner", tenant);
      const passwordHash = await cheapHash("Correct-Horse-7");
      await swept.db.updateTable("users").set({ passwordHash }).where("id", "=", userId).execute();
      const { random, clock } = swept.server.services;
      const { orgId, deviceId } = tenant;
      const row = plainElevation(clock.now(), { id: random.uuid(), orgId, deviceId, riskTier: 4 });
      await swept.db.insertInto("elevationRequests").values(row).execute();
      const body = { decision: "approve", reauthPassword: UNKNOWN };
      return always("elevationRequests.respond", { tenant, token, params: { id: row.id }, body });
    },
  },
  {
    limit: "assertion-challenge",
    noun: "elevation-requests",
    left: 3,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { userId, token } = await swept.caller("partner", tenant);
      const { random, clock } = swept.server.services;
      const row = plainElevation(clock.now(), { id: random.uuid(), orgId: tenant.orgId, deviceId: tenant.deviceId });
      await swept.db.insertInto("elevationRequests").values(row).execute();
      await useUp(swept, challengeLimit, userId, 3);
      return always("elevationRequests.assertionChallenge", { tenant, token, params: { id: row.id } });
    },
  },
];
