import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { permissions } from "#contract/core/permissions";
import type { Tenant } from "#fixtures/world";
import type { DatabaseName } from "../../harness.ts";
import { type Case, forUsers, type ScopeName, scopeOfExample } from "../cases.ts";
import { type Swept, startSweep } from "../sweep.ts";

const allScopes: readonly ScopeName[] = ["system", "partner", "organization"];

/** Scope, permission, MFA, full partner access and the partner guard of every endpoint for users. */
export const sweepAuthorization = (database: DatabaseName) =>
  describe(`authorization on ${database}`, () => {
    let swept: Swept;
    let suspended: Tenant;
    beforeAll(async () => {
      swept = await startSweep(database);
      suspended = await swept.freshTenant();
      await suspend(suspended);
    });
    afterAll(() => swept?.stop());

    const a = () => swept.world.a;
    const suspend = ({ partnerId }: Tenant) =>
      swept.db.updateTable("partners").set({ status: "suspended" }).where("id", "=", partnerId).execute();
    const asCaller = async (item: Case, scope: ScopeName, options: Parameters<Swept["caller"]>[2] = {}) => {
      const { token } = await swept.caller(scope, a(), options);
      return swept.call(item, { tenant: a(), token });
    };

    const narrowed = forUsers.filter(({ endpoint }) => endpoint.access.scopes.length < 3);
    it.each(narrowed)("$name refuses callers of other scopes", async (item) => {
      for (const scope of allScopes.filter((name) => !item.endpoint.access.scopes.includes(name))) {
        const answer = await asCaller(item, scope);
        expect([400, 403]).toContain(answer.status);
        expect(["FORBIDDEN", "PARTNER_CONTEXT_REQUIRED"]).toContain(answer.body.code);
      }
    });

    const guarded = forUsers.filter(({ endpoint }) => endpoint.access.permissions.length > 0);
    it.each(guarded)("$name refuses a caller who holds every permission but its own", async (item) => {
      const { endpoint } = item;
      const { permissions: own, otherPermission } = endpoint.access;
      const held = permissions.filter((permission) => !own.includes(permission) && permission !== otherPermission);
      const answer = await asCaller(item, scopeOfExample(item, a()), { permissions: held });
      expect([answer.status, answer.body.code]).toEqual([403, "PERMISSION_DENIED"]);
    });

    const stepped = forUsers.filter(({ endpoint }) => endpoint.access.mfa);
    it.each(stepped)("$name refuses a session without MFA", async (item) => {
      const answer = await asCaller(item, scopeOfExample(item, a()), { mfa: false });
      expect([answer.status, answer.body.code]).toEqual([403, "MFA_REQUIRED"]);
    });

    const wide = forUsers.filter(({ endpoint }) => endpoint.access.fullPartner);
    it.each(wide)("$name refuses partner users without access to every organization", async (item) => {
      const answer = await asCaller(item, "partner", { orgAccess: "selected", orgIds: [a().orgId] });
      expect([answer.status, answer.body.code]).toEqual([403, "FULL_PARTNER_ACCESS_REQUIRED"]);
    });

    it.each(forUsers)("$name stops at the partner guard, unless exempt", async (item) => {
      const scope = item.endpoint.access.scopes.find((name) => name !== "system");
      if (scope === undefined) return expect(item.endpoint.access.scopes).toEqual(["system"]);
      const exempt = item.endpoint.access.exempt.partnerGuard;
      // An exempt call may end the session of its caller.
      const tenant = exempt ? await swept.freshTenant() : suspended;
      if (exempt) await suspend(tenant);
      const { token } = await swept.caller(scope, tenant);
      const answer = await swept.call(item, { tenant, token });
      const stopped = answer.status === 403 && answer.body.code === "PARTNER_INACTIVE";
      expect({ code: answer.body.code, stopped }).toEqual({ code: answer.body.code, stopped: !exempt });
    });
  });
