import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainRule } from "#fixtures/nouns/access-control/pam-rules";
import { seedWorld, type World } from "#fixtures/world";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";

const HASH = "AB".repeat(32);

describe.each(databases)("rules of elevations on %s", (database) => {
  let server: TestServer;
  let world: World;
  let admin: SignedInUser;
  let confined: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    world = await seedWorld(server.db, server.services);
    admin = await server.signIn({ role: "Org Admin", orgId: world.a.orgId });
    confined = await server.signIn({ role: "Org Admin", orgId: world.a.orgId, siteIds: [world.a.siteId] });
  });
  afterAll(() => server?.stop());

  const send = (method: string, path: string, body?: unknown, who = admin) =>
    server.request(method, path, { token: who.token, ...(body === undefined ? {} : { body }) });
  const create = (body: object, who = admin) =>
    send("POST", "/pam/rules", { name: "Vendor tools", verdict: "auto_approve", ...body }, who);
  const change = (id: string, body: object, who = admin) => send("PATCH", `/pam/rules/${id}`, body, who);
  const made = async (body: object) => (await create(body)).body.rule;
  const stored = (id: string) =>
    server.db.selectFrom("pamRules").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const count = async () => (await server.db.selectFrom("pamRules").select("id").execute()).length;
  const suspended = async () => {
    const rule = { ...plainRule(server.clock.now()), orgId: world.a.orgId, matchUser: "pat" };
    const id = server.services.random.uuid();
    await server.db
      .insertInto("pamRules")
      .values({ ...rule, id, suspendedVerdict: "auto_approve" })
      .execute();
    return id;
  };

  it("are made with defaults, digests in lower case, and shown in the order in which they are asked", async () => {
    const answer = await create({ matchSigner: "Contoso", matchSignerThumbprint: HASH, matchHash: HASH });
    expect(answer.status).toBe(201);
    const shown = { priority: 100, enabled: true, siteId: null, matchHash: HASH.toLowerCase(), suspendedVerdict: null };
    expect(answer.body).toMatchObject({ success: true, rule: { ...shown, matchSignerThumbprint: HASH.toLowerCase() } });
    const first = await made({ matchUser: "pat", priority: 1 });
    const { body } = await send("GET", "/pam/rules");
    expect(body.rules[0]).toMatchObject({ id: first.id, matchRiskTierStale: false, matchRiskTierValidTiers: null });
    const priorities = body.rules.map(({ priority }: { priority: number }) => priority);
    expect(priorities).toEqual([...priorities].sort((a, b) => a - b));
  });

  it.runIf(database === "postgres")("are written by no tenant's own connection, nor is what they rest on", async () => {
    const { orgId, partnerId, signerGroupId } = world.a;
    const { id } = await made({ matchSigner: "Contoso", verdict: "require_approval" });
    await send("PUT", "/pam/config", { orgId, defaultUnmatchedVerdict: "auto_deny" });
    const written = () =>
      Promise.all([
        server.db.selectFrom("pamRules").selectAll().where("orgId", "=", orgId).orderBy("id").execute(),
        server.db.selectFrom("signerGroups").selectAll().where("orgId", "=", orgId).orderBy("id").execute(),
        server.db.selectFrom("pamConfigs").selectAll().where("orgId", "=", orgId).execute(),
      ]);
    const before = await written();
    expect(before.map((rows) => rows.length > 0)).toEqual([true, true, true]);
    for (const wall of [`org:${orgId}`, `partner:${partnerId}`]) {
      const db = server.services.store.connection(wall);
      expect((await db.selectFrom("pamRules").select("id").where("id", "=", id).execute()).length).toBe(1);
      const rule = { ...plainRule(server.clock.now()), id: server.services.random.uuid(), orgId, matchUser: "pat" };
      const lax = { defaultUnmatchedVerdict: "require_approval" as const };
      for (const write of [
        () => db.updateTable("pamRules").set({ verdict: "auto_approve" }).where("id", "=", id).execute(),
        () => db.deleteFrom("pamRules").where("id", "=", id).execute(),
        () =>
          db
            .insertInto("pamRules")
            .values({ ...rule, verdict: "auto_approve" })
            .execute(),
        () => db.updateTable("signerGroups").set({ name: "Mine" }).where("id", "=", signerGroupId).execute(),
        () => db.deleteFrom("signerGroups").where("id", "=", signerGroupId).execute(),
        () => db.updateTable("pamConfigs").set(lax).where("orgId", "=", orgId).execute(),
        () => db.deleteFrom("pamConfigs").where("orgId", "=", orgId).execute(),
      ])
        await write().catch((error: { code?: string }) => expect(error.code).toBe("42501"));
    }
    expect(await written()).toEqual(before);
  });

  it("are listed with the names of their site and signer group", async () => {
    const { siteId, signerGroupId } = world.a;
    const { id } = await made({ siteId, matchSignerGroupId: signerGroupId });
    const plain = await made({ matchUser: "pat" });
    const names = async (who: SignedInUser, of: string) => {
      const { rules } = (await send("GET", "/pam/rules", undefined, who)).body;
      const rule = rules.find((one: { id: string }) => one.id === of);
      return [rule.siteName, rule.matchSignerGroupName];
    };
    const site = server.db.selectFrom("sites").select("name").where("id", "=", siteId);
    const group = server.db.selectFrom("signerGroups").select("name").where("id", "=", signerGroupId);
    const stored = [(await site.executeTakeFirstOrThrow()).name, (await group.executeTakeFirstOrThrow()).name];
    expect(await names(admin, id)).toEqual(stored);
    expect(await names(admin, plain.id)).toEqual([null, null]);
    // Groups belong to the whole organization.
    expect(await names(confined, id)).toEqual([stored[0], null]);
  });

  it.each([
    ["nothing", {}],
    ["a time window alone", { timeWindow: { start: "08:00", end: "17:00" } }],
    ["executable and tool", { matchHash: HASH, matchToolName: "run_script" }],
    ["a thumbprint and a tier", { matchSignerThumbprint: HASH, matchRiskTier: 3 }],
    ["63 digits", { matchHash: HASH.slice(1) }],
    ["another character", { matchHash: `${HASH.slice(1)}g` }],
    ["colons", { matchSigner: "Contoso", matchSignerThumbprint: (HASH.match(/../g) as string[]).join(":") }],
    ["an empty thumbprint", { matchSigner: "Contoso", matchSignerThumbprint: "" }],
    ["an empty hash", { matchUser: "pat", matchHash: "" }],
    ["a blank signer", { matchUser: "pat", matchSigner: "  " }],
    ["negation of what is not given", { matchUser: "pat", matchNegate: ["signer"] }],
    ["only what is not meant", { matchUser: "pat", matchNegate: ["user"] }],
    ["ignoring only what is not meant", { matchUser: "pat", matchNegate: ["user"], verdict: "ignore" }],
    ["ignoring tools", { matchToolName: "run_script", verdict: "ignore" }],
    ["33 wildcards", { matchPathGlob: `c:/${"*/".repeat(33)}` }],
  ])("of %s is refused, and nothing is stored (C27)", async (_, body) => {
    const before = await count();
    expect(await create(body)).toMatchObject({ status: 400, body: { code: "PAM_RULE_INVALID_SHAPE" } });
    expect(await count()).toBe(before);
  });

  it.each([
    ["an unknown zone", { matchUser: "pat", timeWindow: { start: "08:00", end: "17:00", timezone: "Mars/Base" } }],
    ["a day that is none", { matchUser: "pat", timeWindow: { start: "08:00", end: "17:00", days: [7] } }],
    ["a time without its 0", { matchUser: "pat", timeWindow: { start: "9:00", end: "17:00" } }],
    ["no time of day", { matchUser: "pat", timeWindow: { start: "24:00", end: "17:00" } }],
    ["a negated thumbprint", { matchUser: "pat", matchNegate: ["signerThumbprint"] }],
    ["a longer window than a day", { matchUser: "pat", approvalDurationMinutes: 1_441 }],
    ["an unknown field", { matchUser: "pat", orgWide: true }],
    ["a suspended verdict", { matchUser: "pat", suspendedVerdict: "auto_approve" }],
  ])("with %s is no request, and nothing is stored (C26)", async (_, body) => {
    const before = await count();
    expect(await create(body)).toMatchObject({ status: 400, body: { code: "VALIDATION_ERROR" } });
    expect(await count()).toBe(before);
  });

  it("takes a signer group or a signer, of its own organization", async () => {
    const own = { matchSignerGroupId: world.a.signerGroupId };
    for (const besides of [{ matchSigner: "Contoso" }, { matchSignerThumbprint: HASH }])
      expect((await create({ ...own, ...besides })).body.code).toBe("PAM_RULE_INVALID_SHAPE");
    expect((await create(own)).status).toBe(201);
    const foreign = await create({ matchSignerGroupId: world.b.signerGroupId });
    expect([foreign.status, foreign.body.code]).toEqual([400, "SIGNER_GROUP_NOT_IN_ORG"]);
    const site = await create({ matchUser: "pat", siteId: world.b.siteId });
    expect([site.status, site.body.code]).toEqual([400, "SITE_NOT_IN_ORG"]);
  });

  it("refuses a tier that its tool never has, and tells those that it has", async () => {
    const refused = await create({ matchToolName: "run_script", matchRiskTier: 1 });
    expect([refused.status, refused.body.code]).toEqual([400, "pam_rule_risk_tier_unreachable"]);
    expect(refused.body.validTiers).toEqual([3, 4]);
    expect((await create({ matchToolName: "run_script", matchRiskTier: 4 })).status).toBe(201);
    expect((await create({ matchToolName: "tomorrows_tool", matchRiskTier: 1 })).status).toBe(201);
    const rule = await made({ matchToolName: "run_script", matchRiskTier: 3 });
    expect((await change(rule.id, { matchRiskTier: 2 })).body.code).toBe("pam_rule_risk_tier_unreachable");
    await server.db.updateTable("pamRules").set({ matchRiskTier: 2 }).where("id", "=", rule.id).execute();
    const { body } = await send("GET", "/pam/rules");
    const stale = { matchRiskTierStale: true, matchRiskTierValidTiers: [3, 4] };
    expect(body.rules.find(({ id }: { id: string }) => id === rule.id)).toMatchObject(stale);
  });

  it("is judged as it will be after a change", async () => {
    const rule = await made({ matchUser: "pat", matchSigner: "Contoso", matchNegate: ["signer"] });
    for (const body of [{ matchUser: null }, { matchToolName: "run_script" }, { matchSigner: null }, { matchHash: "" }])
      expect((await change(rule.id, body)).body.code).toBe("PAM_RULE_INVALID_SHAPE");
    expect((await change(rule.id, {})).body.code).toBe("NO_UPDATES");
    expect(await stored(rule.id)).toMatchObject({ matchUser: "pat", matchToolName: null });
    const changed = await change(rule.id, { matchUser: null, matchNegate: null, enabled: false });
    expect(changed.body.rule).toMatchObject({
      matchUser: null,
      matchNegate: null,
      matchSigner: "Contoso",
      enabled: false,
    });
  });

  it("that is suspended approves again only once somebody approves it anew (C28)", async () => {
    const id = await suspended();
    const technician = await server.signIn({ role: "Org Technician", orgId: world.a.orgId });
    const without = await server.signIn({ role: "Org Admin", orgId: world.a.orgId, mfa: false });
    expect((await change(id, { reapprove: true }, technician)).body.code).toBe("PERMISSION_DENIED");
    expect((await change(id, { reapprove: true }, without)).body.code).toBe("MFA_REQUIRED");
    expect((await change(id, { reapprove: true, verdict: "auto_approve" })).status).toBe(400);
    expect((await change(id, { reapprove: true, name: "x" })).status).toBe(400);
    expect(await stored(id)).toMatchObject({ verdict: "require_approval", suspendedVerdict: "auto_approve" });
    const { status, body } = await change(id, { reapprove: true });
    expect(status).toBe(200);
    const by = { reapprovedByUserId: admin.userId, reapprovedAt: server.clock.now() };
    expect(body.rule).toMatchObject({ verdict: "auto_approve", suspendedVerdict: null, ...by });
    const again = await change(id, { reapprove: true });
    expect([again.status, again.body.code]).toEqual([400, "NOT_SUSPENDED"]);
    await server.settled();
    const entries = await send("GET", `/audit-logs/logs?action=pam.rule.reapprove&result=success`);
    expect(entries.body.data).toHaveLength(1);
    const other = await suspended();
    const set = await change(other, { verdict: "auto_deny" });
    expect(set.body.rule).toMatchObject({ verdict: "auto_deny", suspendedVerdict: null, reapprovedAt: null });
    const renamed = await suspended();
    expect((await change(renamed, { name: "Other" })).body.rule.suspendedVerdict).toBe("auto_approve");
  });

  it("of other sites and of the whole organization are hidden from people confined to sites, and not theirs to write", async () => {
    const wide = await made({ matchUser: "pat" });
    const own = await made({ matchUser: "pat", siteId: world.a.siteId });
    const listed = (await send("GET", "/pam/rules", undefined, confined)).body.rules as {
      id: string;
      siteId: string;
    }[];
    expect(listed.map(({ id }) => id)).toContain(own.id);
    expect(new Set(listed.map(({ siteId }) => siteId))).toEqual(new Set([world.a.siteId]));
    const before = await count();
    const refused = [
      await create({ matchUser: "pat" }, confined),
      await change(wide.id, { enabled: false }, confined),
      await change(own.id, { siteId: null }, confined),
      await send("DELETE", `/pam/rules/${wide.id}`, undefined, confined),
    ];
    for (const answer of refused) expect([answer.status, answer.body.code]).toEqual([403, "SITE_ACCESS_DENIED"]);
    expect(await count()).toBe(before);
    expect((await change(own.id, { enabled: false }, confined)).status).toBe(200);
    expect(await stored(wide.id)).toMatchObject({ enabled: true });
  });

  it("of another tenant do not exist, and naming its organization is refused", async () => {
    for (const method of ["PATCH", "DELETE"])
      expect(
        (await send(method, `/pam/rules/${world.b.pamRuleId}`, method === "PATCH" ? { name: "x" } : undefined)).status,
      ).toBe(404);
    expect((await create({ matchUser: "pat", orgId: world.b.orgId })).body.code).toBe("ORG_ACCESS_DENIED");
    expect((await send("GET", `/pam/rules?orgId=${world.b.orgId}`)).body.code).toBe("ORG_ACCESS_DENIED");
  });

  it("go with their site, each with its entry, and none becomes one of the whole organization", async () => {
    const partner = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
    const body = { orgId: world.a.orgId, name: "Leaving" };
    const site = (await send("POST", "/orgs/sites", body, partner)).body.id;
    const rule = await made({ matchUser: "pat", siteId: site });
    expect((await send("DELETE", `/orgs/sites/${site}`, undefined, partner)).status).toBe(200);
    expect(await server.db.selectFrom("pamRules").selectAll().where("id", "=", rule.id).execute()).toEqual([]);
    await server.settled();
    const entries = (await send("GET", `/audit-logs/logs?action=pam.rule.delete&result=success`)).body.data;
    expect(entries.map(({ resource }: { resource: { id: string } }) => resource.id)).toContain(rule.id);
  });

  it("are at most 500 in an organization, also for who does not see them all", async () => {
    const now = server.clock.now();
    const rows = Array.from(
      {
        length:
          500 -
          (await server.db.selectFrom("pamRules").select("id").where("orgId", "=", world.a.orgId).execute()).length,
      },
      () => ({
        ...plainRule(now),
        ...{ id: server.services.random.uuid(), orgId: world.a.orgId, matchUser: "filler" },
      }),
    );
    for (let at = 0; at < rows.length; at += 50)
      await server.db
        .insertInto("pamRules")
        .values(rows.slice(at, at + 50))
        .execute();
    const refused = [
      await create({ matchUser: "x" }),
      await create({ matchUser: "x", siteId: world.a.siteId }, confined),
    ];
    for (const answer of refused) expect([answer.status, answer.body.code]).toEqual([422, "LIMIT_REACHED"]);
  });
});
