import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { verifyEveryChain } from "#server/features/audit/audit-logs/schedules";
import { DAY, HOUR } from "#server/platform/clock";
import { tamper } from "../../../test/e2e/tamper.ts";
import { eventsAfter, lastEvent } from "../../../test/events-of.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { closeIncident, trackIncident } from "./track.ts";

describe.each(databases)("incidents on %s", { timeout: 120_000 }, (database) => {
  let server: TestServer;
  let acme: Tenant;
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    await server.db.deleteFrom("incidents").execute();
    await signIn();
  });
  afterAll(() => server?.stop());

  /** Again after a day: tokens do not last. */
  const signIn = async () => {
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
  };
  const feed = async ({ token }: SignedInUser = admin, query = "") =>
    server.request("GET", `/incidents/feed${query}`, { token });
  const titles = async (who?: SignedInUser, query?: string): Promise<string[]> =>
    (await feed(who, query)).body.data.map(({ title }: { title: string }) => title);
  const track = (title: string, more: object = {}) =>
    server.db.transaction().execute((tx) =>
      trackIncident(tx, server.services, {
        ...{ title, severity: "p2", classification: "audit_integrity", sourceType: "audit_chain", sourceRef: title },
        ...more,
      }),
    );

  it("a broken audit chain is one incident, told once, until a verification of the chain passes", async () => {
    const made = await server.request("POST", "/orgs/organizations", {
      token: admin.token,
      body: { name: "Broken", slug: `broken-${database}` },
    });
    const orgId = made.body.id as string;
    await server.settled();
    const verify = async () => {
      const answer = await server.request("POST", "/audit-logs/verify", { token: admin.token, body: { orgId } });
      await server.settled();
      return answer.body.ok;
    };
    const [{ action, id }] = (await server.db
      .selectFrom("auditLogs")
      .select(["id", "action"])
      .where("orgId", "=", orgId)
      .execute()) as [{ action: string; id: string }];
    const before = await lastEvent(server.db);
    const told = async () => (await eventsAfter(server.db, before)).filter(({ kind }) => kind === "incident.created");
    await tamper(server, `update audit_logs set action = 'nothing.happened' where id = '${id}'`);
    await verifyEveryChain(server.services);
    const shown = (await feed()).body;
    expect(shown).toMatchObject({
      data: [
        {
          ...{ kind: "tracked", source: "native", severity: "p1", status: "detected", orgId, orgName: "Broken" },
          ...{ deviceId: null, edrStatus: null, linkOut: null },
        },
      ],
      pagination: { page: 1, limit: 25, total: 1 },
    });
    expect(shown.data[0].trackedIncidentId).toBe(shown.data[0].sourceId);
    // By hand, on the same day and on the next.
    expect(await verify()).toBe(false);
    server.clock.advance(DAY + HOUR);
    await signIn();
    await verifyEveryChain(server.services);
    expect((await feed()).body.data).toEqual(shown.data);
    expect(await told()).toMatchObject([
      { orgId, siteId: null, data: { incidentId: shown.data[0].sourceId, severity: "p1" } },
    ]);
    // A schedule that is switched off raises nothing, and closes nothing.
    Object.assign(server.services.config, { auditChainVerify: false });
    await verifyEveryChain(server.services);
    Object.assign(server.services.config, { auditChainVerify: true });
    expect((await feed()).body.data).toEqual(shown.data);
    await tamper(server, `update audit_logs set action = '${action}' where id = '${id}'`);
    expect(await verify()).toBe(true);
    expect((await feed()).body.data).toMatchObject([{ sourceId: shown.data[0].sourceId, status: "closed" }]);
    await tamper(server, `update audit_logs set action = 'again' where id = '${id}'`);
    expect(await verify()).toBe(false);
    expect((await feed()).body.data.map(({ status }: { status: string }) => status)).toEqual(["detected", "closed"]);
    expect(await told()).toHaveLength(2);
    await tamper(server, `update audit_logs set action = '${action}' where id = '${id}'`);
    await verify();
    server.clock.advance(31 * DAY);
    await signIn();
    expect(await titles()).toEqual([]);
  });

  it("are listed the gravest first and of these the newest, in pages", async () => {
    const { orgId } = acme;
    await server.db.deleteFrom("incidents").execute();
    await track("older p2", { orgId });
    server.clock.advance(60_000);
    await track("newer p2", { orgId });
    await track("p4", { orgId, severity: "p4" });
    await track("p1", { orgId, severity: "p1" });
    expect(await titles()).toEqual(["p1", "newer p2", "older p2", "p4"]);
    expect((await feed(admin, "?limit=1000")).body.pagination.limit).toBe(100);
    expect((await feed(admin, "?limit=1&page=2")).body).toMatchObject({
      data: [{ title: "newer p2" }],
      pagination: { page: 2, limit: 1, total: 4 },
    });
    expect(await titles(admin, `?orgId=${orgId}&kind=tracked&source=native`)).toHaveLength(4);
    for (const none of ["?kind=finding", "?source=huntress", "?kind=tracked&source=s1"])
      expect((await feed(admin, none)).body).toMatchObject({ data: [], pagination: { total: 0 } });
    expect((await feed(admin, "?kind=rumour")).status).toBe(400);
  });

  it("of one severity and moment are listed by id, on pages as in whole", async () => {
    const { orgId } = acme;
    await server.db.deleteFrom("incidents").execute();
    for (const title of ["one", "two", "three"]) await track(title, { orgId });
    const ids = (await feed()).body.data.map(({ sourceId }: { sourceId: string }) => sourceId);
    expect(ids).toEqual(ids.toSorted());
    const pages = [];
    for (const page of [1, 2, 3]) pages.push(...(await feed(admin, `?limit=1&page=${page}`)).body.data);
    expect(pages.map(({ sourceId }) => sourceId)).toEqual(ids);
  });

  it("of a partner or the installation are no event: webhooks belong to organizations", async () => {
    await server.db.deleteFrom("incidents").execute();
    const before = await lastEvent(server.db);
    await track("of the partner", { partnerId: acme.partnerId });
    await track("of the installation");
    expect(await eventsAfter(server.db, before)).toEqual([]);
    await track("of the organization", { orgId: acme.orgId });
    expect(await eventsAfter(server.db, before)).toMatchObject([{ kind: "incident.created", orgId: acme.orgId }]);
  });

  it("are seen by whom they concern: the tenant, the whole partner, the sites of their device", async () => {
    const { orgId, partnerId, deviceId, siteId } = acme;
    await server.db.deleteFrom("incidents").execute();
    await track("of the device", { orgId, deviceId });
    await track("of the organization", { orgId });
    await track("of the partner", { partnerId });
    await track("of the installation");
    const other = await seedPartner(server, `other-${database}`, [`elsewhere-${database}`]);
    const stranger = await server.signIn({ role: "Partner Admin", partnerId: other.partnerId });
    expect((await titles(admin)).toSorted()).toEqual(["of the device", "of the organization", "of the partner"]);
    expect(await titles(stranger)).toEqual([]);
    expect((await feed(stranger, `?orgId=${orgId}`)).body.code).toBe("ORG_ACCESS_DENIED");
    const selected = await server.signIn({ role: "Partner Admin", partnerId, orgAccess: "selected", orgIds: [orgId] });
    expect((await titles(selected)).toSorted()).toEqual(["of the device", "of the organization"]);
    const customer = await server.signIn({ role: "Org Admin", orgId });
    expect((await titles(customer)).toSorted()).toEqual(["of the device", "of the organization"]);
    const confined = await server.signIn({ role: "Org Admin", orgId, siteIds: [siteId] });
    expect(await titles(confined)).toEqual(["of the device"]);
    const system = await server.signIn({ role: "System Admin" });
    expect(await titles(system)).toContain("of the installation");
  });

  it("of one subject that is found by two at once are one", async () => {
    await server.db.deleteFrom("incidents").execute();
    await Promise.all([0, 1, 2, 3].map(() => track("twice", { orgId: acme.orgId })));
    expect(await titles()).toEqual(["twice"]);
    const subject = { sourceType: "audit_chain", sourceRef: "twice" } as const;
    await server.db.transaction().execute((tx) => closeIncident(tx, server.clock.now(), subject));
    await track("twice", { orgId: acme.orgId });
    expect(await titles()).toHaveLength(2);
  });
});
