import { beforeAll, describe, expect, it } from "vitest";
import { auditEntry } from "#server/audit/entry";
import { auditedServer } from "../../../test/audited-server.ts";
import { type DatabaseName, databases } from "../../../test/harness.ts";
import { verifyAllLimit, verifyLimit, verifySubject } from "./verify.ts";

describe.each(databases)("the audit log on %s", (database: DatabaseName) => {
  const here = auditedServer(database, { name: "Dana Ortiz" });

  beforeAll(async () => {
    for (const [name, timezone] of [
      ["North", "UTC"],
      ["50%OFF", "UTC"],
      ["PC_01", "UTC"],
    ]) {
      await here.server.request("POST", "/orgs/sites", {
        token: here.admin.token,
        body: { orgId: here.world.a.orgId, name, timezone },
      });
    }
    await here.server.settled();
  });

  const read = (path: string, token = here.admin.token) => here.server.request("GET", `/audit-logs${path}`, { token });

  it("shows who did what, newest first, with names instead of ids", async () => {
    const { body } = await read(`?action=site.create&orgId=${here.world.a.orgId}`);
    expect(body.pagination).toMatchObject({ total: 3, totalPages: 1 });
    expect(body.entries.map((entry: { resource: string }) => entry.resource)).toEqual(["PC_01", "50%OFF", "North"]);
    expect(body.entries[0]).toMatchObject({
      action: "site.create",
      resourceType: "site",
      user: { name: "Dana Ortiz", role: "user" },
    });
    expect(body.entries[0].sessionId).toBe(here.admin.sessionId);
  });

  it("filters literally: wildcards mean themselves (C13)", async () => {
    const names = async (query: string) =>
      (await read(`/logs?${query}`)).body.data.map((entry: { resource: { name: string } }) => entry.resource.name);
    expect(await names("resource=PC_0")).toEqual(["PC_01"]);
    expect(await names("resource=%25")).toEqual(["50%OFF"]);
    expect(await names("user=dana%20ORT&action=site.create")).toHaveLength(3);
    expect(await names("user=_nobody_")).toEqual([]);
    expect(await names("user=da_a%20ort&action=site.create")).toEqual([]);
    expect(await names("user=%25&action=site.create")).toEqual([]);
    expect((await read("/search?q=%25off")).body.data).toHaveLength(1);
    expect((await read("/search?q=_")).body.data.every((entry: object) => JSON.stringify(entry).includes("_"))).toBe(
      true,
    );
  });

  it("reads a date as that whole UTC day, on both ends (C36)", async () => {
    const day = here.server.clock.now().slice(0, 10);
    expect((await read(`?from=${day}&to=${day}&action=site.create`)).body.pagination.total).toBe(3);
    expect((await read(`?to=2026-03-01&action=site.create`)).body.pagination.total).toBe(0);
    expect((await read("?from=yesterday")).status).toBe(400);
    expect((await read("?from=2026-02-30")).status).toBe(400);
    expect((await read("?from=2026-03-03&to=2026-03-02")).body).toMatchObject({
      ...{ code: "VALIDATION_ERROR", error: "from must not be after to" },
    });
    expect(
      (
        await read(
          `?from=${encodeURIComponent("2026-03-02T10:59:00+02:00")}&to=${encodeURIComponent("2026-03-02T11:01:00+02:00")}&action=site.create`,
        )
      ).body.pagination.total,
    ).toBe(3);
  });

  it("names who acted as they were called then", async () => {
    const rename = (name: string) =>
      here.server
        .request("PATCH", "/users/me", { token: here.admin.token, body: { name } })
        .then(() => here.server.settled());
    const namesOf = async (path: string) => {
      const { body } = await read(`${path}?action=site.create`);
      return (body.entries ?? body.data).map(({ user }: { user: { name: string } }) => user.name);
    };
    await rename("Somebody Else");
    for (const path of ["", "/logs"]) expect(await namesOf(path)).toEqual(["Dana Ortiz", "Dana Ortiz", "Dana Ortiz"]);
    const called = async (name: string) =>
      (await read(`/logs?action=site.create&user=${encodeURIComponent(name)}`)).body.pagination.total;
    expect([await called("dana ort"), await called("somebody ELSE"), await called("ort%")]).toEqual([3, 3, 0]);
    await rename('Dana "Dee" Ortiz');
    const dee = (await read(`/logs?user=${encodeURIComponent('"dee"')}&action=user.profile`)).body.data;
    expect(dee).toHaveLength(2);
    await rename("Dana Ortiz");
    const byName = (await read(`/logs?user=${encodeURIComponent('"dee"')}&action=user.profile`)).body.data;
    expect(byName.map(({ user }: { user: { name: string } }) => user.name)).toEqual(['Dana "Dee" Ortiz']);
    const renamed = (await read("/logs?action=user.profile.update")).body.data;
    expect(renamed.map(({ user }: { user: { name: string } }) => user.name)).toEqual([
      ...['Dana "Dee" Ortiz', "Somebody Else", "Dana Ortiz"],
    ]);
  });

  it("names an agent after its device, also once the reader reaches that no more", async () => {
    const { orgId, deviceId } = here.world.a;
    const [gone, elsewhere] = [here.server.services.random.uuid(), here.world.b.deviceId];
    const device = { resourceType: "device", result: "success", actorType: "agent", action: "agent.enroll", orgId };
    const entries = [
      { ...device, actorId: deviceId, resourceId: deviceId, resourceName: "as it was" },
      { ...device, actorId: gone, resourceId: gone, resourceName: "left-pc" },
      { ...device, actorId: elsewhere, resourceId: elsewhere, resourceName: "moved-pc" },
      { ...device, actorId: gone, resourceId: elsewhere, resourceName: "another" },
    ].map((event) => auditEntry(event, { now: new Date(here.server.clock.nowMs()) }));
    const ids = await here.record(entries);
    const names = await Promise.all(ids.map(async (id) => (await read(`/logs/${id}`)).body.user.name));
    const { hostname } = await here.server.db
      .selectFrom("devices")
      .select("hostname")
      .where("id", "=", deviceId)
      .executeTakeFirstOrThrow();
    expect(names).toEqual([`Agent (${hostname})`, "Agent (left-pc)", "Agent (moved-pc)", "Agent"]);
  });

  it("counts nothing when told not to, and still shows the rows", async () => {
    const { body } = await read("?skipCount=true&limit=2&action=site.create");
    expect(body.entries).toHaveLength(2);
    expect(body.pagination).toMatchObject({ total: -1, totalPages: -1 });
  });

  it("shows customers nothing of the partner's chain and other tenants nothing at all", async () => {
    await here.server.request("PATCH", "/orgs/partners/me", {
      token: here.admin.token,
      body: { name: "Alpha renamed" },
    });
    await here.server.settled();
    const customer = await here.server.signIn({ role: "Org Admin", orgId: here.world.a.orgId });
    const stranger = await here.server.signIn({ role: "Partner Admin", partnerId: here.world.b.partnerId });
    expect((await read("?action=partner.settings.update")).body.pagination.total).toBe(1);
    expect((await read("?action=partner.settings.update", customer.token)).body.pagination.total).toBe(0);
    expect((await read("?action=site.create", customer.token)).body.pagination.total).toBe(3);
    expect((await read("?action=site.create", stranger.token)).body.pagination.total).toBe(0);
    expect((await read(`?orgId=${here.world.a.orgId}`, stranger.token)).body.code).toBe("ORG_ACCESS_DENIED");
  });

  it("keeps what was recorded of an organization that was deleted", async () => {
    const made = await here.server.request("POST", "/orgs/organizations", {
      token: here.admin.token,
      body: { name: "Gone", slug: "gone" },
    });
    await here.server.request("DELETE", `/orgs/organizations/${made.body.id}`, { token: here.admin.token });
    await here.server.settled();
    const { body } = await read("/logs?resource=Gone");
    expect(body.data.map((entry: { action: string }) => entry.action)).toEqual([
      "organization.delete",
      "organization.create",
    ]);
  });

  it("verifies each chain, anchors what it found, and names the key that proves it", async () => {
    for (const selector of [{ orgId: here.world.a.orgId }, { partnerId: here.world.a.partnerId }]) {
      const { status, body } = await here.server.request("POST", "/audit-logs/verify", {
        token: here.admin.token,
        body: selector,
      });
      expect(status).toBe(200);
      expect(body).toMatchObject({ ok: true, breakCount: 0, breaks: [] });
      expect(body.entriesChecked).toBeGreaterThan(0);
      expect(body.anchors.latest.headChainSeq).toBe(body.head.chainSeq);
    }
    const anchors = await read(`/anchors?orgId=${here.world.a.orgId}`);
    expect(anchors.body.data.length).toBeGreaterThan(0);
    expect(anchors.body.publicKey).toMatch(/^[A-Za-z0-9+/=]+$/);
    expect(anchors.body.publicKeys).toEqual([anchors.body.publicKey]);
    expect(
      (await here.server.request("POST", "/audit-logs/verify", { token: here.admin.token, body: { chain: "system" } }))
        .body.code,
    ).toBe("FORBIDDEN");
  });

  it("verifies no chain that nobody named, but the one an organization has; a partner's only to whoever sees all of it", async () => {
    const customer = await here.server.signIn({ role: "Org Admin", orgId: here.world.a.orgId });
    const system = await here.server.signIn({ role: "System Admin" });
    const selected = await here.server.signIn({
      ...{
        role: "Partner Admin",
        partnerId: here.world.a.partnerId,
        orgAccess: "selected",
        orgIds: [here.world.a.orgId],
      },
    });
    const verify = async (token: string, body: object) => {
      const answer = await here.server.request("POST", "/audit-logs/verify", { token, body });
      return answer.body.code ?? answer.body.orgId ?? answer.body.partnerId ?? answer.body.ok;
    };
    for (const { token } of [here.admin, system, selected]) {
      expect(await verify(token, {})).toBe("VALIDATION_ERROR");
      expect((await read("/anchors", token)).body.code).toBe("VALIDATION_ERROR");
      expect(await verify(token, { orgId: here.world.a.orgId, partnerId: here.world.a.partnerId })).toBe(
        "VALIDATION_ERROR",
      );
    }
    expect(await verify(customer.token, {})).toBe(here.world.a.orgId);
    expect(await verify(system.token, { chain: "system" })).toBe(true);
    expect(await verify(selected.token, { orgId: here.world.a.orgId })).toBe(here.world.a.orgId);
    expect(await verify(selected.token, { orgId: here.world.a.secondOrgId })).toBe("ORG_ACCESS_DENIED");
    expect(await verify(selected.token, { partnerId: here.world.a.partnerId })).toBe("FULL_PARTNER_ACCESS_REQUIRED");
    expect(await verify(here.admin.token, { partnerId: here.world.b.partnerId })).toBe("PARTNER_ACCESS_DENIED");
    expect(await verify(system.token, { orgId: "0190c0de-0000-7000-8000-00000000beef" })).toBe("ORG_ACCESS_DENIED");
  });

  it("runs two verifications of one caller at once, and tells the third to wait without counting it", async () => {
    const { token, userId } = await here.server.signIn({ role: "System Admin" });
    const { a, b } = here.world;
    const answers = await Promise.all(
      [{ orgId: a.orgId }, { orgId: a.orgId }, { orgId: b.orgId }, { partnerId: a.partnerId }].map((body) =>
        here.server.request("POST", "/audit-logs/verify", { token, body }),
      ),
    );
    const busy = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4 - busy.length);
    // Two of one chain share a run, so there are at most three: whoever came while two were under way was told to wait,
    // which may be both of that one.
    expect([1, 2]).toContain(busy.length);
    expect(Number(busy[0]?.headers.get("retry-after"))).toBeLessThanOrEqual(5);
    expect(await here.server.services.limiter.peek(verifyAllLimit, userId)).toMatchObject({ allowed: true });
    expect(answers[0]?.body.verifiedAt === answers[1]?.body.verifiedAt || busy.includes(answers[1]!)).toBe(true);
  });

  it("allows thirty verifications of a chain an hour, beside those of other chains", async () => {
    const eager = await here.server.signIn({ role: "System Admin" });
    const chain = { kind: "organization", id: here.world.b.orgId } as const;
    const subject = verifySubject(eager.userId, chain);
    await here.server.services.limiter.take(verifyLimit, subject, 29);
    const of = (orgId: string) => ({ token: eager.token, body: { orgId } });
    const other = () => here.server.request("POST", "/audit-logs/verify", of(here.world.a.orgId));
    const verify = () => here.server.request("POST", "/audit-logs/verify", of(here.world.b.orgId));
    expect((await verify()).status).toBe(200);
    const refused = await verify();
    expect([refused.status, refused.body.code]).toEqual([429, "RATE_LIMITED"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await other()).status).toBe(200);
    await here.server.services.limiter.take(verifyAllLimit, eager.userId, 1_998);
    const ofOther = verifySubject(eager.userId, { kind: "organization", id: here.world.a.orgId });
    await here.server.services.limiter.take(verifyLimit, ofOther, 28);
    expect((await other()).status).toBe(429);
    expect(
      (await here.server.services.limiter.peek(verifyLimit, ofOther)).allowed,
      "what is refused takes no slot",
    ).toBe(true);
  });
});
