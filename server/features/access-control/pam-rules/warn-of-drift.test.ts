import { expect, it } from "vitest";
import { plainRule } from "#fixtures/nouns/access-control/pam-rules";
import { seedWorld } from "#fixtures/world";
import { startTestServer } from "../../../test/harness.ts";
import { warnOfDrift } from "./warn-of-drift.ts";

it("names enabled rules whose tool has lost their tier, and says nothing where there are none", async () => {
  const server = await startTestServer("sqlite");
  const { a } = await seedWorld(server.db, server.services);
  const lines: [string, unknown][] = [];
  const note = (event: string, fields?: unknown) => void lines.push([event, fields]);
  const warned = () => warnOfDrift({ ...server.services, log: { ...server.services.log, warn: note, error: note } });
  const rule = { ...plainRule(server.clock.now()), orgId: a.orgId, matchToolName: "run_script" };
  const [stale, off, fine] = [0, 1, 2].map(() => server.services.random.uuid()) as [string, string, string];
  await server.db
    .insertInto("pamRules")
    .values([
      { ...rule, id: off, matchRiskTier: 1, enabled: false },
      { ...rule, id: fine, matchRiskTier: 4 },
    ])
    .execute();
  await warned();
  expect(lines).toEqual([]);
  await server.db
    .insertInto("pamRules")
    .values({ ...rule, id: stale, matchRiskTier: 1 })
    .execute();
  await warned();
  const named = { id: stale, orgId: a.orgId, matchRiskTier: 1, validTiers: [3, 4] };
  expect(lines).toEqual([
    ["pam-rule-tier-drift", { rules: 1 }],
    ["pam_rule_risk_tier_unreachable", { rules: [named] }],
  ]);
  await server.stop();
});
