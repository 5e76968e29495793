import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtInRoleId } from "#server/access/roles";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("users on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let orgId: string;
  let secondOrgId: string;
  let partnerAdmin: SignedInUser;
  let orgAdmin: SignedInUser;
  let system: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    const seeded = await seedPartner(server, "acme", ["harbor", "quay"]);
    partnerId = seeded.partnerId;
    [orgId, secondOrgId] = seeded.orgIds as [string, string];
    partnerAdmin = await server.signIn({ role: "Partner Admin", name: "Zoe", partnerId });
    orgAdmin = await server.signIn({ role: "Org Admin", name: "Ana", orgId, email: "ana@harbor.example" });
    system = await server.signIn({ role: "System Admin" });
  });
  afterAll(() => server?.stop());

  const get = (path: string, who: SignedInUser) => server.request("GET", `/users${path}`, { token: who.token });
  const patchMe = (who: SignedInUser, body: object) => server.request("PATCH", "/users/me", { token: who.token, body });
  const names = (answer: { body: { data: { name: string }[] } }) => answer.body.data.map((user) => user.name);

  it("shows callers themselves with what their membership allows", async () => {
    const tech = await server.signIn({
      role: "Partner Technician",
      partnerId,
      orgAccess: "selected",
      orgIds: [secondOrgId],
      mfa: false,
    });
    expect((await get("/me", tech)).body).toMatchObject({
      id: tech.userId,
      email: tech.email,
      scope: "partner",
      partnerId,
      orgId: null,
      roleName: "Partner Technician",
      orgAccess: "selected",
      orgIds: [secondOrgId],
      siteIds: null,
      mfaSatisfied: false,
      mfaMethod: null,
      permissions: expect.arrayContaining(["devices:execute", "users:read"]),
    });
    expect((await get("/me", system)).body).toMatchObject({
      scope: "system",
      isPlatformAdmin: true,
      permissions: ["*:*"],
    });
    const text = JSON.stringify((await get("/me", orgAdmin)).body);
    expect(text).not.toMatch(/passwordHash|mfaSecret|mfaPending|failedLogins/);
  });

  it("changes the caller's own profile, merging preferences", async () => {
    const who = await server.signIn({ role: "Org Viewer", orgId, name: "Old" });
    await patchMe(who, { preferences: { theme: "dark", columns: [1] } });
    const changed = await patchMe(who, {
      name: "New",
      avatarUrl: "https://cdn.acme.example/a.png",
      preferences: { columns: null, density: 2 },
    });
    expect(changed.body).toMatchObject({
      name: "New",
      avatarUrl: "https://cdn.acme.example/a.png",
      scope: "organization",
    });
    expect(changed.body.preferences).toEqual({ theme: "dark", density: 2 });
    expect((await patchMe(who, { avatarUrl: null })).body.avatarUrl).toBeNull();
    expect((await patchMe(who, {})).body.code).toBe("NO_UPDATES");
    expect((await patchMe(who, { status: "disabled" })).body.code).toBe("VALIDATION_ERROR");
    expect((await patchMe(who, { avatarUrl: "http://cdn.acme.example/a.png" })).body.code).toBe("VALIDATION_ERROR");
    const entries = (await auditEntries(server, "user.profile.update")).filter((entry) => entry.actorId === who.userId);
    expect(entries[1]?.details["changedFields"]).toEqual(["name", "avatarUrl", "preferences"]);
    expect(JSON.stringify(entries)).not.toContain("dark");
  });

  it("changes the profile of a system user and of a partner's technician alike", async () => {
    const tech = await server.signIn({ role: "Partner Technician", partnerId, orgAccess: "none" });
    for (const who of [system, tech]) expect((await patchMe(who, { name: "Renamed" })).body.name).toBe("Renamed");
  });

  it("loses no preference to a parallel change", async () => {
    const who = await server.signIn({ role: "Org Viewer", orgId });
    await Promise.all(Array.from({ length: 6 }, (_, n) => patchMe(who, { preferences: { [`key${n}`]: n } })));
    expect(Object.keys((await get("/me", who)).body.preferences)).toHaveLength(6);
  });

  it("lists the members of the target alone, by name", async () => {
    const { orgIds, partnerId: otherPartner } = await seedPartner(server, `list-${database}`, ["one", "two"]);
    const [one, two] = orgIds as [string, string];
    const admin = await server.signIn({ role: "Partner Admin", name: "boss", partnerId: otherPartner });
    await server.signIn({
      role: "Partner Viewer",
      name: "Able",
      partnerId: otherPartner,
      orgAccess: "selected",
      orgIds: [two],
    });
    await server.signIn({ role: "Org Viewer", name: "élan", orgId: one });
    const owner = await server.signIn({ role: "Org Admin", name: "Carl", orgId: one });
    await server.signIn({ role: "Org Viewer", name: "Dora", orgId: two });
    const staff = await get("", admin);
    expect(names(staff)).toEqual(["Able", "boss"]);
    expect(staff.body.data[0]).toMatchObject({
      roleName: "Partner Viewer",
      orgAccess: "selected",
      orgIds: [two],
      mfaEnabled: false,
    });
    expect(staff.body.pagination).toEqual({ page: 1, limit: 50, total: 2 });
    expect(names(await get("", owner))).toEqual(["Carl", "élan"]);
    expect(names(await get(`?orgId=${one}`, owner))).toEqual(["Carl", "élan"]);
    expect((await get(`?orgId=${two}`, owner)).body.code).toBe("ORG_ACCESS_DENIED");
    expect(names(await get(`?orgId=${two}`, admin))).toEqual(["Dora"]);
    expect(names(await get(`?orgId=${one}&search=ÉL`, admin))).toEqual(["élan"]);
    expect(names(await get(`?orgId=${one}&status=invited`, admin))).toEqual([]);
    expect(names(await get(`?partnerId=${otherPartner}&limit=1&page=2`, system))).toEqual(["boss"]);
    expect(names(await get(`?orgId=${two}`, system))).toEqual(["Dora"]);
  });

  it("needs a target the caller reaches", async () => {
    const other = await seedPartner(server, `reach-${database}`, ["foreign"]);
    const selected = await server.signIn({
      role: "Partner Technician",
      partnerId,
      orgAccess: "selected",
      orgIds: [orgId],
    });
    const code = async (path: string, who: SignedInUser) => (await get(path, who)).body.code;
    expect(await code("", selected)).toBe("FULL_PARTNER_ACCESS_REQUIRED");
    expect((await get(`?orgId=${orgId}`, selected)).status).toBe(200);
    expect(await code(`?orgId=${secondOrgId}`, selected)).toBe("ORG_ACCESS_DENIED");
    expect(await code(`?orgId=${other.orgIds[0]}`, partnerAdmin)).toBe("ORG_ACCESS_DENIED");
    expect(await code(`?orgId=${server.services.random.uuid()}`, partnerAdmin)).toBe("ORG_ACCESS_DENIED");
    expect(await code(`?partnerId=${other.partnerId}`, partnerAdmin)).toBe("FORBIDDEN");
    expect(await code("", system)).toBe("PARTNER_ID_REQUIRED");
    expect(await code(`?partnerId=${server.services.random.uuid()}`, system)).toBe("NOT_FOUND");
    const viewer = await server.signIn({ role: "Org Viewer", orgId });
    expect(await code("", viewer)).toBe("PERMISSION_DENIED");
  });

  it("answers a user of another tenant like one who does not exist", async () => {
    const other = await seedPartner(server, `foreign-${database}`, ["foreign"]);
    const foreign = await server.signIn({ role: "Org Admin", orgId: other.orgIds[0] as string });
    const unknown = await get(`/${server.services.random.uuid()}`, orgAdmin);
    for (const who of [orgAdmin, partnerAdmin]) {
      for (const id of [foreign.userId, system.userId]) {
        const answer = await get(`/${id}`, who);
        expect([answer.status, answer.body]).toEqual([404, unknown.body]);
      }
    }
    expect((await get(`/${orgAdmin.userId}`, orgAdmin)).body).toMatchObject({ name: "Ana", siteIds: null });
    expect((await get(`/${orgAdmin.userId}`, partnerAdmin)).status).toBe(404);
    expect((await get(`/${orgAdmin.userId}?orgId=${orgId}`, partnerAdmin)).body.roleId).toBe(
      builtInRoleId("Org Admin"),
    );
  });
});
