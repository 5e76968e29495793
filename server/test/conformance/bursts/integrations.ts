import { plainOrganization } from "#fixtures/nouns/tenancy/organizations";
import { caseOf } from "../cases.ts";
import { ask } from "../sweep.ts";
import { always, type Burst } from "./burst.ts";

export const integrationsBursts: readonly Burst[] = [
  {
    limit: "webhooks",
    noun: "webhooks",
    left: 19,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token } = await swept.caller("partner", tenant);
      return always("webhooks.create", { tenant, token });
    },
    // Beyond it the answer is 422.
    async admitted(swept) {
      const made = swept.db.selectFrom("webhooks").select("id").where("name", "=", "Chat");
      return (await made.execute()).length;
    },
  },
  {
    limit: "webhook-test",
    noun: "webhooks",
    left: 10,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token } = await swept.caller("partner", tenant);
      return always("webhooks.test", { tenant, token });
    },
  },
  {
    limit: "webhook-listeners",
    noun: "webhooks",
    // Four in each process, of which Postgres has two here.
    left: 8,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const { token } = await swept.caller("partner", tenant);
      const now = await ask(swept.server, caseOf("webhooks.events"), { tenant, token });
      return always("webhooks.events", { tenant, token, query: { cursor: now.body.cursor, waitSeconds: "1" } });
    },
  },
  {
    limit: "webhook-listeners-partner",
    noun: "webhooks",
    // Sixteen in each process.
    left: 32,
    async ready(swept) {
      const tenant = await swept.freshTenant();
      const item = caseOf("webhooks.events");
      const now = swept.server.services.clock.now();
      const orgIds = Array.from({ length: 12 }, () => swept.server.services.random.uuid());
      const rows = orgIds.map((id, n) => ({ ...plainOrganization(`listening-${n}`), id, partnerId: tenant.partnerId }));
      const stamps = { createdAt: now, updatedAt: now };
      await swept.db
        .insertInto("organizations")
        .values(rows.map((row) => ({ ...row, ...stamps })))
        .execute();
      // Of three persons, so that none meets the limit of a session.
      const permissions = ["organizations:write", "organizations:read", "devices:read"] as const;
      const callers = await Promise.all(
        permissions.map((_, n) => swept.caller("partner", tenant, { permissions: permissions.slice(0, n + 1) })),
      );
      const [first] = callers;
      const asked = (orgId: string) => ask(swept.server, item, { tenant, token: first?.token, query: { orgId } });
      const cursors = await Promise.all(orgIds.map(async (orgId) => (await asked(orgId)).body.cursor as string));
      return (number) => {
        const [orgId, cursor] = [orgIds[number % 12], cursors[number % 12]];
        const token = callers[1 + (number % 2)]?.token;
        return { item, options: { tenant, token, query: { orgId, cursor, waitSeconds: "1" } } };
      };
    },
  },
];
