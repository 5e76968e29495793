import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { plainRule } from "#fixtures/nouns/access-control/pam-rules";
import { seedWorld, type World } from "#fixtures/world";
import type { PamRule } from "#server/db/tables/pam-rules";
import { policy, report } from "#server/test/access-control/decisions";
import { databases, startTestServer, type TestServer } from "../../../../test/harness.ts";
import type { Candidate } from "./candidate.ts";
import { type Deciding, decideReport } from "./decide-report.ts";

describe.each(databases)("a decision in its transaction on %s", (database) => {
  let server: TestServer;
  let world: World;

  beforeAll(async () => {
    server = await startTestServer(database);
    world = await seedWorld(server.db, server.services);
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    await server.db.deleteFrom("pamRules").execute();
    await server.db.deleteFrom("pamConfigs").execute();
  });

  const insert = async (given: Partial<PamRule>): Promise<string> => {
    const id = server.services.random.uuid();
    const rule = { ...plainRule(server.clock.now()), id, orgId: world.a.orgId, verdict: "auto_approve" as const };
    await server.db
      .insertInto("pamRules")
      .values({ ...rule, ...given })
      .execute();
    return id;
  };
  const decided = (candidate: Partial<Candidate> = {}, given: Partial<Deciding> = {}) => {
    const { orgId, siteId, deviceId } = world.a;
    return server.db
      .transaction()
      .execute((tx) =>
        decideReport(tx, report({ orgId, siteId, deviceId, ...candidate }), { ...server.services, ...given }),
      );
  };

  it("rests on rules, groups and default of the device's organization and site (C28)", async () => {
    expect(await decided()).toMatchObject({ verdict: "pending", evidence: [] });
    const id = await insert({ matchSignerGroupId: world.a.signerGroupId, siteId: world.a.siteId });
    const signed = { targetExecutableSigner: "CONTOSO LTD" };
    expect(await decided(signed)).toMatchObject({
      verdict: "auto_approved",
      pamRuleId: id,
      decisionSource: "pam_rule",
    });
    expect(await decided({ ...signed, orgId: world.b.orgId })).toMatchObject({ verdict: "pending" });
    expect(await decided({ ...signed, siteId: null })).toMatchObject({ verdict: "pending" });
    await server.db
      .insertInto("pamConfigs")
      .values({ orgId: world.a.orgId, defaultUnmatchedVerdict: "auto_deny", updatedAt: server.clock.now() })
      .execute();
    expect(await decided()).toMatchObject({ verdict: "denied", denialReason: "Blocked by organization default" });
    await insert({ matchUser: "pat", verdict: "ignore", priority: 1 });
    expect(await decided(signed)).toMatchObject({ verdict: "ignored" });
  });

  it("is pending by a rule that is suspended, off or broken, and when the policies cannot be read (C28)", async () => {
    const suspended = { verdict: "require_approval", suspendedVerdict: "auto_approve" } as const;
    const id = await insert({ matchUser: "pat", ...suspended });
    expect(await decided()).toMatchObject({ verdict: "pending", pamRuleId: id, decisionSource: null });
    await server.db.updateTable("pamRules").set({ enabled: false }).execute();
    expect(await decided()).toMatchObject({ verdict: "pending", pamRuleId: null });
    await insert({ matchUser: "pat" });
    expect(await decided()).toMatchObject({ verdict: "auto_approved" });
    const failed = { verdict: "pending", evidence: [{ kind: "undecided", why: "evaluation_failed" }] };
    const down: Deciding["softwarePolicyOf"] = async (db) => {
      await db
        .selectFrom("noSuchTable" as "pamRules")
        .selectAll()
        .execute();
      return undefined;
    };
    expect(await decided({}, { softwarePolicyOf: down })).toMatchObject(failed);
    await insert({ matchUser: "lee", timeWindow: { start: "08:00", end: "17:00", timezone: "Mars/Olympus" } });
    expect(await decided()).toMatchObject(failed);
  });

  it("leaves the transaction whole whatever failed in it", async () => {
    const { orgId, siteId, deviceId } = world.a;
    await server.db.transaction().execute(async (tx) => {
      const down: Deciding["softwarePolicyOf"] = (db) =>
        db
          .selectFrom("gone" as "pamRules")
          .selectAll()
          .execute() as never;
      await decideReport(tx, report({ orgId, siteId, deviceId }), { ...server.services, softwarePolicyOf: down });
      await tx
        .insertInto("pamConfigs")
        .values({ orgId, defaultUnmatchedVerdict: "auto_deny", updatedAt: server.clock.now() })
        .execute();
    });
    expect(await server.db.selectFrom("pamConfigs").selectAll().execute()).toHaveLength(1);
  });

  it("asks the software policy first", async () => {
    await insert({ matchUser: "pat", verdict: "auto_deny" });
    const softwarePolicyOf = async () => policy("allowlist", { name: "Tool", signer: "Tool Maker" });
    const approved = { verdict: "auto_approved", matchedPolicyName: "Workstations", decisionSource: "software_policy" };
    expect(await decided({}, { softwarePolicyOf })).toMatchObject(approved);
  });

  it("begins again when the rule that matched has changed meanwhile, and leaves it to people the fourth time", async () => {
    const id = await insert({ matchUser: "pat" });
    const { orgId, siteId, deviceId } = world.a;
    const changing = (times: number) =>
      server.db.transaction().execute(async (tx) => {
        let reads = 0;
        const deciding: Deciding = {
          ...server.services,
          // Read before the rule is: each start sees another rule than the look after it.
          softwarePolicyOf: async () => undefined,
        };
        const raced = new Proxy(tx, {
          get(target, name) {
            const value = Reflect.get(target, name, target);
            if (name !== "selectFrom") return typeof value === "function" ? value.bind(target) : value;
            return (table: "pamRules") => {
              if (table !== "pamRules") return target.selectFrom(table);
              reads += 1;
              const changed = reads % 2 === 0 && reads / 2 <= times;
              const query = target.selectFrom(table);
              return changed ? query.where("id", "<>", id) : query;
            };
          },
        });
        return decideReport(raced, report({ orgId, siteId, deviceId }), deciding);
      });
    expect(await changing(0)).toMatchObject({ verdict: "auto_approved" });
    expect(await changing(3)).toMatchObject({ verdict: "auto_approved" });
    expect(await changing(4)).toMatchObject({
      verdict: "pending",
      evidence: [{ kind: "undecided", why: "rules_changed" }],
    });
  });
});
