import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedWorld, type World } from "#fixtures/world";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("signer groups and the default of an organization on %s", (database) => {
  let server: TestServer;
  let world: World;
  let admin: SignedInUser;
  let technician: SignedInUser;
  let confined: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    world = await seedWorld(server.db, server.services);
    admin = await server.signIn({ role: "Org Admin", orgId: world.a.orgId });
    technician = await server.signIn({ role: "Org Technician", orgId: world.a.orgId });
    confined = await server.signIn({ role: "Org Admin", orgId: world.a.orgId, siteIds: [world.a.siteId] });
  });
  afterAll(() => server?.stop());

  const send = (method: string, path: string, body?: unknown, who = admin) =>
    server.request(method, path, { token: who.token, ...(body === undefined ? {} : { body }) });
  const groups = "/pam/signer-groups";
  const stored = () => server.db.selectFrom("signerGroups").selectAll().orderBy("id").execute();

  it("keep signers once, whatever their case, and a name of their own (C27)", async () => {
    const body = { name: "Installers", signers: [" Contoso ", "CONTOSO", "Fabrikam"] };
    const { status, body: answer } = await send("POST", groups, body);
    expect([status, answer.signerGroup.signers]).toEqual([201, ["Contoso", "Fabrikam"]]);
    expect(await send("POST", groups, { ...body, name: "INSTALLERS" })).toMatchObject({
      status: 409,
      body: { code: "NAME_TAKEN" },
    });
    const before = await stored();
    for (const signers of [Array.from({ length: 501 }, (_, n) => `S${n}`), ["x".repeat(256)], [" "], ["Con\u200btoso"]])
      expect((await send("POST", groups, { name: "Other", signers })).status).toBe(400);
    expect(await stored()).toEqual(before);
  });

  it("that rules name are changed by who may write rules, and not deleted", async () => {
    const { id } = (await send("POST", groups, { name: "Named", signers: ["Contoso"] })).body.signerGroup;
    expect((await send("PATCH", `${groups}/${id}`, { signers: ["Fabrikam"] }, technician)).status).toBe(200);
    const rule = { name: "By group", verdict: "auto_approve", matchSignerGroupId: id };
    const ruleId = (await send("POST", "/pam/rules", rule)).body.rule.id;
    const before = await stored();
    const refused = await send("PATCH", `${groups}/${id}`, { signers: ["Evil"] }, technician);
    expect([refused.status, refused.body.code]).toEqual([403, "PERMISSION_DENIED"]);
    expect(await stored()).toEqual(before);
    expect((await send("PATCH", `${groups}/${id}`, { description: "known" }, technician)).status).toBe(200);
    expect((await send("PATCH", `${groups}/${id}`, { signers: ["Northwind"] })).status).toBe(200);
    await server.settled();
    const { body } = await send("GET", "/audit-logs/logs?action=pam.signer_group.update&result=success");
    expect(body.data[0].details.rules).toEqual([{ id: ruleId, name: "By group" }]);
    const inUse = await send("DELETE", `${groups}/${id}`);
    expect([inUse.status, inUse.body.code, inUse.body.details]).toEqual([409, "IN_USE", { ruleCount: 1 }]);
    await send("DELETE", `/pam/rules/${ruleId}`);
    expect((await send("DELETE", `${groups}/${id}`)).status).toBe(200);
  });

  it("are the whole organization's: people confined to sites neither see nor write them, nor the default", async () => {
    const before = await stored();
    const answers = [
      await send("GET", groups, undefined, confined),
      await send("POST", groups, { name: "Mine" }, confined),
      await send("PATCH", `${groups}/${world.a.signerGroupId}`, { name: "Mine" }, confined),
      await send("DELETE", `${groups}/${world.a.signerGroupId}`, undefined, confined),
      await send("PUT", "/pam/config", { defaultUnmatchedVerdict: "auto_deny" }, confined),
    ];
    for (const { status, body } of answers) expect([status, body.code]).toEqual([403, "SITE_ACCESS_DENIED"]);
    expect(await stored()).toEqual(before);
    expect((await send("PATCH", `${groups}/${world.b.signerGroupId}`, { name: "x" })).status).toBe(404);
  });

  it("are at most 200 in an organization", async () => {
    const now = server.clock.now();
    const { length } = await server.db
      .selectFrom("signerGroups")
      .select("id")
      .where("orgId", "=", world.a.orgId)
      .execute();
    const rows = Array.from({ length: 200 - length }, (_, n) => ({
      ...{ id: server.services.random.uuid(), orgId: world.a.orgId, name: `g${n}`, nameKey: `g${n}` },
      ...{ description: null, signers: [], createdAt: now, updatedAt: now },
    }));
    await server.db.insertInto("signerGroups").values(rows).execute();
    expect((await send("POST", groups, { name: "One more" })).body.code).toBe("LIMIT_REACHED");
  });

  it("the default is that people decide, until somebody says otherwise, per organization", async () => {
    const partner = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
    expect((await send("GET", "/pam/config")).body).toEqual({
      success: true,
      config: { orgId: world.a.orgId, defaultUnmatchedVerdict: "require_approval" },
    });
    expect((await send("GET", "/pam/config", undefined, partner)).body.code).toBe("ORG_ID_REQUIRED");
    expect((await send("GET", `/pam/config?orgId=${world.b.orgId}`)).body.code).toBe("ORG_ACCESS_DENIED");
    for (const defaultUnmatchedVerdict of ["auto_deny", "require_approval", "auto_deny"]) {
      const { status, body } = await send("PUT", "/pam/config", { defaultUnmatchedVerdict }, technician);
      expect([status, body.config.defaultUnmatchedVerdict]).toEqual([200, defaultUnmatchedVerdict]);
    }
    expect((await send("PUT", "/pam/config", { defaultUnmatchedVerdict: "auto_approve" })).status).toBe(400);
    expect((await send("GET", "/pam/config")).body.config.defaultUnmatchedVerdict).toBe("auto_deny");
    const other = await send("GET", `/pam/config?orgId=${world.a.secondOrgId}`, undefined, partner);
    expect(other.body.config.defaultUnmatchedVerdict).toBe("require_approval");
  });
});
