import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedWorld, type World } from "#fixtures/world";
import { schedules as retention } from "#server/features/audit/audit-retention/schedules";
import { jsonLog } from "#server/platform/log";
import { tamper } from "../../../test/e2e/tamper.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";
import { schedules, verifyEveryChain } from "./schedules.ts";

describe.each(databases)("the daily verification on %s", (database) => {
  let server: TestServer;
  let world: World;
  const lines: Record<string, unknown>[] = [];

  beforeAll(async () => {
    const log = jsonLog("error", (line) => void lines.push(JSON.parse(line) as Record<string, unknown>));
    server = await startTestServer(database, {}, { log });
    world = await seedWorld(server.db, server.services);
    const { token } = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
    for (let count = 0; count < 5; count += 1)
      await server.request("POST", "/orgs/sites", { token, body: { orgId: world.a.orgId, name: `Site ${count}` } });
    await server.settled();
  });
  afterAll(() => server?.stop());

  const broken = () => lines.filter(({ event }) => event === "audit.chain_broken");

  it("says nothing of chains that hold, and raises a P1 for one that does not, naming it and the place (C33)", async () => {
    await verifyEveryChain(server.services);
    expect(broken()).toEqual([]);
    await tamper(
      server,
      `delete from audit_logs where id in (select audit_id from audit_chain where chain_id = '${world.a.orgId}' and chain_seq = 3)`,
    );
    await verifyEveryChain(server.services);
    expect(broken()).toHaveLength(1);
    expect(broken()[0]).toMatchObject({
      severity: "p1",
      chain: { kind: "organization", id: world.a.orgId },
      breaks: [expect.objectContaining({ kind: "missing_row", chainSeq: 3 })],
    });
    const metrics = await server.request("GET", "/metrics");
    expect(metrics.body).toMatch(/^audit_chain_broken_orgs 1$/m);
  });

  it("stops where AUDIT_CHAIN_VERIFY_ENABLED is false, and a verification by hand goes on (C33)", async () => {
    const before = broken().length;
    const off = { ...server.services, config: { ...server.services.config, auditChainVerify: false } };
    await verifyEveryChain(off);
    expect(broken()).toHaveLength(before);
    const { token } = await server.signIn({ role: "Org Admin", orgId: world.a.orgId });
    const answer = await server.request("POST", "/audit-logs/verify", { token, body: {} });
    expect(answer.body).toMatchObject({ ok: false, breakCount: 1 });
  });
});

it("chains are pruned at 03:30 and verified at 04:15, anchors taken and the outbox checked every hour", () => {
  const crons = Object.fromEntries([...schedules, ...retention].map(({ name, cron }) => [name, cron]));
  expect(crons).toMatchObject({ "audit.retention": "30 3 * * *", "audit.verify": "15 4 * * *" });
  for (const name of ["audit.anchors", "audit.outbox"]) expect(crons[name]).toMatch(/^\d+ \* \* \* \*$/);
});
