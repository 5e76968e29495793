import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, dropDatabase } from "#fixtures/postgres";
import { anchorGrowth } from "#server/audit/keeper";
import { DAY } from "#server/platform/clock";
import { tamper } from "../../../test/e2e/tamper.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { verifyEveryChain } from "../audit-logs/schedules.ts";
import { pruneByRetention } from "./prune-by-retention.ts";

describe.each(databases)("retention on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let url: string | undefined;

  beforeAll(async () => {
    url = database === "postgres" ? await createDatabase() : undefined;
    // The owner's connection: on Postgres nothing is removed without one.
    const env = url === undefined ? {} : { DATABASE_URL: url, AUDIT_ADMIN_DATABASE_URL: url };
    server = await startTestServer("sqlite", env);
    ({ partnerId } = await seedPartner(server, "acme", []));
  });
  afterAll(async () => {
    await server?.stop();
    if (url) await dropDatabase(url);
  });

  const request = async (method: string, path: string, body?: object) => {
    const { token } = await server.signIn({ role: "Partner Admin", partnerId });
    return server.request(method, path, { token, ...(body ? { body } : {}) });
  };
  const verify = (orgId: string) => request("POST", "/audit-logs/verify", { orgId }).then(({ body }) => body);
  const addSites = async (orgId: string, names: string[]) => {
    for (const name of names) await request("POST", "/orgs/sites", { orgId, name });
    await server.settled();
  };
  /** An organization with four entries, anchored; then, longer than its retention later, with one more. */
  const agedOrg = async (slug: string): Promise<string> => {
    const { body } = await request("POST", "/orgs/organizations", { name: slug, slug });
    await addSites(body.id, ["One", "Two", "Three"]);
    await anchorGrowth(server.services);
    server.clock.advance(366 * DAY);
    await addSites(body.id, ["Four"]);
    return body.id;
  };
  const incidents = () => server.db.selectFrom("auditIncidents").selectAll().execute();

  it("leaves a signed record among the anchors and in the anchor file, and a chain that verifies", async () => {
    const orgId = await agedOrg("pruned");
    await pruneByRetention(server.services);
    const { data, publicKey } = (await request("GET", `/audit-logs/anchors?orgId=${orgId}`)).body;
    expect(data.map(({ type }: { type: string }) => type)).toEqual(["prune", "anchor"]);
    expect(data[0]).toMatchObject({ anchorSeq: 2, prunedThroughSeq: 4, prunedCount: 4, signature: expect.any(String) });
    expect(publicKey).toEqual(expect.any(String));
    const kept = readFileSync(server.services.config.anchorFile, "utf8");
    expect(kept.split("\n").filter((line) => line.includes(orgId) && line.includes('"prune"'))).toHaveLength(1);
    expect(await verify(orgId)).toMatchObject({ ok: true, prunedPrefix: true, entriesChecked: 1, breaks: [] });
    const row = await server.db.selectFrom("auditRetention").selectAll().where("orgId", "=", orgId).execute();
    expect(row[0]?.lastCleanupAt).toBe(server.clock.now());
    await verifyEveryChain(server.services);
    expect(await incidents()).toEqual([]);
  });

  it("goes on for an organization that was deleted, by the value that it had", async () => {
    const orgId = await agedOrg("left");
    expect((await request("DELETE", `/orgs/organizations/${orgId}`)).status).toBe(200);
    await server.settled();
    await pruneByRetention(server.services);
    expect(await verify(orgId)).toMatchObject({ ok: true, prunedPrefix: true, entriesChecked: 2 });
    server.clock.advance(366 * DAY);
    await pruneByRetention(server.services);
    expect(await verify(orgId)).toMatchObject({ ok: true, prunedPrefix: true, entriesChecked: 0 });
  });

  it("stops at an entry that was altered, tells of it, and removes nothing more while that is open, for 90 days", async () => {
    const orgId = await agedOrg("altered");
    const second = `id = (select audit_id from audit_chain where chain_id = '${orgId}' and chain_seq = 2)`;
    await tamper(server, `update audit_logs set resource_name = 'x' where ${second}`);
    await pruneByRetention(server.services);
    expect(await incidents()).toMatchObject([{ chainKind: "organization", chainId: orgId }]);
    const first = async () => (await verify(orgId)).first?.chainSeq;
    expect(await verify(orgId)).toMatchObject({ ok: false, breaks: [{ kind: "content_mismatch", chainSeq: 2 }] });
    expect(await first()).toBe(2);
    server.clock.advance(89 * DAY);
    await pruneByRetention(server.services);
    expect(await first()).toBe(2);
    server.clock.advance(2 * DAY);
    await pruneByRetention(server.services);
    expect(await first()).toBe(5);
    const { data } = (await request("GET", `/audit-logs/anchors?orgId=${orgId}`)).body;
    expect(data.find(({ breakCount }: { breakCount?: number }) => breakCount)).toMatchObject({
      ...{ type: "prune", breakCount: 1, prunedCount: 3 },
    });
    expect(await verify(orgId)).toMatchObject({ ok: true });
    expect(await incidents()).toEqual([]);
  });
});

describe("retention on Postgres without AUDIT_ADMIN_DATABASE_URL", () => {
  it("removes nothing", async () => {
    const server = await startTestServer("postgres");
    const { partnerId } = await seedPartner(server, "acme", []);
    const { token } = await server.signIn({ role: "Partner Admin", partnerId });
    await server.request("POST", "/orgs/organizations", { token, body: { name: "Kept", slug: "kept" } });
    await server.settled();
    server.clock.advance(400 * DAY);
    await pruneByRetention(server.services);
    expect(await server.db.selectFrom("auditPrunes").selectAll().execute()).toEqual([]);
    await server.stop();
  });
});
