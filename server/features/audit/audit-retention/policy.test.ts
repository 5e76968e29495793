import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedWorld, type World } from "#fixtures/world";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("the retention of an organization on %s", (database) => {
  let server: TestServer;
  let world: World;
  let partner: SignedInUser;
  let customer: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    world = await seedWorld(server.db, server.services);
    partner = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
    customer = await server.signIn({ role: "Org Admin", orgId: world.a.orgId });
  });
  afterAll(() => server?.stop());

  const path = (orgId: string) => `/orgs/organizations/${orgId}/audit-retention`;
  const show = (orgId: string, who = partner) => server.request("GET", path(orgId), { token: who.token });
  const set = (orgId: string, retentionDays: unknown, who = partner) =>
    server.request("PUT", path(orgId), { token: who.token, body: { retentionDays } });
  /** An organization that is made now. */
  const made = async (slug: string): Promise<string> => {
    const body = { name: slug, slug };
    return (await server.request("POST", "/orgs/organizations", { token: partner.token, body })).body.id;
  };
  /** One from before there was a retention. */
  const old = async (orgId: string): Promise<string> => {
    await server.db.deleteFrom("auditRetention").where("orgId", "=", orgId).execute();
    return orgId;
  };
  const stored = async (orgId: string) =>
    (await server.db.selectFrom("auditRetention").select("retentionDays").where("orgId", "=", orgId).execute())[0]
      ?.retentionDays;
  const told = async (who: SignedInUser, orgId: string) => {
    const { body } = await server.request("GET", "/notifications?limit=100", { token: who.token });
    return body.data.filter((one: { metadata: { orgId?: string } }) => one.metadata.orgId === orgId);
  };
  const entriesOf = async (orgId: string) => {
    await server.settled();
    const query = `?action=audit_retention.update&orgId=${orgId}`;
    const { body } = await server.request("GET", `/audit-logs/logs${query}`, { token: partner.token });
    return body.data as { result: string; details: Record<string, unknown> }[];
  };
  const enforced = database === "sqlite" ? {} : { enforced: false };

  it("is 365 days for a new organization, and none for an old one, which is told apart", async () => {
    const orgId = await made("fresh");
    expect(await show(orgId)).toMatchObject({ status: 200 });
    const shown = { archiveToS3: false, lastCleanupAt: null, ...enforced };
    expect((await show(orgId)).body).toEqual({ orgId, retentionDays: 365, configured: true, ...shown });
    await old(orgId);
    expect((await show(orgId)).body).toEqual({ orgId, retentionDays: 365, configured: false, ...shown });
    expect(await stored(orgId)).toBeUndefined();
  });

  it("is set by the partner, recorded with both values, and lowering it is told to readers of the record", async () => {
    const orgId = await made("set");
    const at = server.clock.now();
    await server.db.updateTable("auditRetention").set({ lastCleanupAt: at }).where("orgId", "=", orgId).execute();
    const answer = await set(orgId, 30);
    expect([answer.status, answer.body]).toEqual([
      200,
      { orgId, retentionDays: 30, configured: true, archiveToS3: false, lastCleanupAt: at, ...enforced },
    ]);
    expect((await show(orgId)).body).toEqual(answer.body);
    const [entry] = await entriesOf(orgId);
    expect([entry?.result, entry?.details]).toEqual(["success", expect.objectContaining({ from: 365, to: 30 })]);
    const reader = await server.signIn({ role: "Partner Technician", partnerId: world.a.partnerId });
    const viewer = await server.signIn({ role: "Partner Viewer", partnerId: world.a.partnerId });
    await set(orgId, 20);
    for (const who of [partner, reader])
      expect((await told(who, orgId))[0]).toMatchObject({ type: "security", metadata: { from: 30, to: 20 } });
    expect(await told(viewer, orgId)).toEqual([]);
    const before = (await told(partner, orgId)).length;
    await set(orgId, 40);
    await set(orgId, 40);
    expect(await told(partner, orgId)).toHaveLength(before);
  });

  it("a customer's administrator lengthens it, and neither shortens it nor sets the first", async () => {
    const { orgId } = world.a;
    await set(orgId, 100);
    expect((await set(orgId, 200, customer)).body).toMatchObject({ retentionDays: 200 });
    expect((await set(orgId, 200, customer)).status).toBe(200);
    const refused = await set(orgId, 199, customer);
    expect([refused.status, refused.body.code, await stored(orgId)]).toEqual([403, "FORBIDDEN", 200]);
    // A refusal is recorded after its answer.
    const denied = async () => (await entriesOf(orgId)).filter(({ result }) => result === "denied");
    await expect.poll(denied).toMatchObject([{ details: { from: 200, to: 199 } }]);
    await old(orgId);
    expect((await set(orgId, 3_650, customer)).body.code).toBe("FORBIDDEN");
    expect(await stored(orgId)).toBeUndefined();
    expect((await set(orgId, 365)).body).toMatchObject({ configured: true });
    expect((await told(partner, orgId))[0].metadata).toMatchObject({ from: null, to: 365 });
    const system = await server.signIn({ role: "System Admin" });
    expect((await set(orgId, 364, system)).status).toBe(200);
  });

  it("two at once are judged one after the other: nobody lowers what another has just set", async () => {
    const { orgId } = world.a;
    await set(orgId, 100);
    for (let round = 0; round < 10; round += 1) {
      const [before, high] = [100 + round * 10, 105 + round * 10];
      const [lengthened, other] = await Promise.all([set(orgId, high + 5), set(orgId, high, customer)]);
      expect(lengthened?.status).toBe(200);
      expect(await stored(orgId), `from ${before}`).toBe(high + 5);
      expect([200, 403]).toContain(other?.status);
      const changes = (await entriesOf(orgId)).filter(({ result }) => result === "success");
      const last = changes.map(({ details }) => details).find(({ to }) => to === high + 5);
      expect([before, high]).toContain(last?.["from"]);
    }
  });

  it("refuses numbers out of range, others' organizations, people confined to sites, and read-only organizations", async () => {
    const orgId = await made("refusing");
    for (const days of [0, 3_651, 1.5, "30", null, undefined]) expect((await set(orgId, days)).status).toBe(400);
    const more = { retentionDays: 30, archiveToS3: true };
    const strict = await server.request("PUT", path(orgId), { token: partner.token, body: more });
    expect(strict.status).toBe(400);
    expect((await set(world.b.orgId, 30)).status).toBe(404);
    expect((await show(world.b.orgId)).status).toBe(404);
    const confined = await server.signIn({ role: "Org Admin", orgId: world.a.orgId, siteIds: [world.a.siteId] });
    expect((await set(world.a.orgId, 3_650, confined)).body.code).toBe("SITE_ACCESS_DENIED");
    expect(await stored(world.a.orgId)).not.toBe(3_650);
    await server.db.updateTable("organizations").set({ status: "archived" }).where("id", "=", orgId).execute();
    expect((await set(orgId, 30)).body.code).toBe("ORG_READ_ONLY");
    expect([(await show(orgId)).status, await stored(orgId)]).toEqual([200, 365]);
  });
});
