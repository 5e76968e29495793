import { bundleLimit } from "#server/features/audit/audit-logs/bundle";
import { exportLimit } from "#server/features/audit/audit-logs/export";
import { verifyAllLimit, verifyLimit, verifySubject } from "#server/features/audit/audit-logs/verify";
import { always, type Burst, useUp } from "./burst.ts";

export const auditBursts: readonly Burst[] = [
  {
    limit: "audit-export",
    noun: "audit-logs",
    left: 4,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token, userId } = await swept.caller("partner", tenant);
      await useUp(swept, exportLimit, userId, 4);
      return always("auditLogs.exportCsv", { tenant, token });
    },
  },
  {
    limit: "audit-bundle",
    noun: "audit-logs",
    left: 4,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token, userId } = await swept.caller("partner", tenant);
      await useUp(swept, bundleLimit, userId, 4);
      return always("auditLogs.bundle", { tenant, token });
    },
  },
  {
    limit: "audit-verify",
    noun: "audit-logs",
    left: 4,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token, userId } = await swept.caller("partner", tenant);
      await useUp(swept, verifyLimit, verifySubject(userId, { kind: "organization", id: tenant.orgId }), 4);
      return always("auditLogs.verify", { tenant, token });
    },
  },
  {
    limit: "audit-verify-all",
    noun: "audit-logs",
    left: 4,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token, userId } = await swept.caller("partner", tenant);
      await useUp(swept, verifyAllLimit, userId, 4);
      return always("auditLogs.verify", { tenant, token });
    },
  },
];
