import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtInRoles } from "#contract/core/permissions";
import { builtInRoleId } from "#server/access/roles";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

type Role = { id: string; name: string; scope: string; userCount: number; permissions: string[] };

describe.each(databases)("roles on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let orgId: string;
  let admin: SignedInUser;
  let orgAdmin: SignedInUser;
  let system: SignedInUser;
  const own: Record<string, string> = {};

  beforeAll(async () => {
    server = await startTestServer(database);
    const seeded = await seedPartner(server, "acme", ["harbor", "quay"]);
    const other = await seedPartner(server, "other", ["elsewhere"]);
    partnerId = seeded.partnerId;
    orgId = seeded.orgIds[0] as string;
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    orgAdmin = await server.signIn({ role: "Org Admin", orgId });
    system = await server.signIn({ role: "System Admin" });
    await make("Dispatch", { scope: "partner", partnerId });
    await make("Reception", { scope: "organization", orgId }, ["devices:read", "sites:read"]);
    await make("Night reception", { scope: "organization", orgId, parentRoleId: own["Reception"] as string });
    await make("Quay", { scope: "organization", orgId: seeded.orgIds[1] as string });
    await make("Foreign", { scope: "partner", partnerId: other.partnerId });
    await make("Foreign too", { scope: "organization", orgId: other.orgIds[0] as string });
    await server.signIn({ role: "Org Viewer", orgId: other.orgIds[0] as string });
  });
  afterAll(() => server?.stop());

  async function make(
    name: string,
    owner: { scope: "partner" | "organization"; partnerId?: string; orgId?: string; parentRoleId?: string },
    permissions: string[] = [],
  ): Promise<void> {
    const id = server.services.random.uuid();
    own[name] = id;
    const now = server.clock.now();
    const plain = {
      partnerId: null,
      orgId: null,
      parentRoleId: null,
      description: null,
      isSystem: false,
      forceMfa: false,
    };
    await server.db
      .insertInto("roles")
      .values({ ...plain, ...owner, id, name, createdAt: now, updatedAt: now })
      .execute();
    for (const permission of permissions)
      await server.db.insertInto("rolePermissions").values({ roleId: id, permission }).execute();
  }
  const get = async (path: string, who: SignedInUser) => {
    const { status, body } = await server.request("GET", path, { token: who.token });
    expect(status, JSON.stringify(body)).toBe(200);
    return body.data as Role[];
  };
  const names = (roles: Role[]) => roles.map(({ name }) => name);
  const builtIn = (scope: string) =>
    builtInRoles
      .filter((role) => role.scope === scope)
      .map(({ name }) => name)
      .sort();

  it("shows an organization the built-in roles of its scope and its own, and nobody else's", async () => {
    const roles = await get("/roles", orgAdmin);
    expect(names(roles)).toEqual([...builtIn("organization"), "Night reception", "Reception"]);
    expect(roles.find(({ name }) => name === "Org Admin")).toMatchObject({
      id: builtInRoleId("Org Admin"),
      isSystem: true,
      userCount: 1,
      permissions: expect.arrayContaining(["users:invite"]),
    });
    expect(roles.find(({ name }) => name === "Org Viewer")?.userCount).toBe(0);
    expect(roles.at(-2)).toEqual({
      id: own["Night reception"],
      scope: "organization",
      partnerId: null,
      orgId,
      name: "Night reception",
      description: null,
      isSystem: false,
      forceMfa: false,
      parentRoleId: own["Reception"],
      parentRoleName: "Reception",
      permissions: [],
      userCount: 0,
    });
    expect(roles.at(-1)?.permissions).toEqual(["devices:read", "sites:read"]);
  });

  it("shows a partner its own and both kinds of built-in roles, or those of an organization it names", async () => {
    const roles = await get("/roles", admin);
    expect(names(roles)).toEqual([...builtIn("partner"), ...builtIn("organization"), "Dispatch"]);
    expect(roles.find(({ name }) => name === "Partner Admin")?.userCount).toBe(1);
    expect(roles.find(({ name }) => name === "Org Admin")?.userCount).toBe(1);
    expect(names(await get(`/roles?orgId=${orgId}`, admin))).toEqual(names(await get("/roles", orgAdmin)));
    expect(names(await get(`/roles?partnerId=${partnerId}`, system))).toEqual(names(roles));
  });

  it("lists as assignable what an invitation takes: of the target's scope, and nothing above the caller", async () => {
    expect(names(await get("/users/roles", admin))).toEqual([...builtIn("partner"), "Dispatch"]);
    expect(names(await get(`/users/roles?orgId=${orgId}`, admin))).toEqual(names(await get("/roles", orgAdmin)));
    const lesser = await server.signIn({ role: "Partner Technician", partnerId });
    const given = await get(`/users/roles?orgId=${orgId}`, lesser);
    expect(names(given)).toContain("Reception");
    expect(names(given)).toContain("Org Viewer");
    expect(names(given)).not.toContain("Org Admin");
    const invite = (roleId: string) =>
      server.request("POST", "/users/invite", {
        token: orgAdmin.token,
        body: { email: `${roleId}@new.example`, name: "New", roleId },
      });
    for (const role of await get("/users/roles", orgAdmin)) expect((await invite(role.id)).status, role.name).toBe(201);
  });

  it("refuses another tenant's roles, and callers who may not read users", async () => {
    const stranger = await server.signIn({
      role: "Org Admin",
      orgId: (await seedPartner(server, "third", ["t"])).orgIds[0] as string,
    });
    for (const path of ["/roles", "/users/roles"]) {
      const foreign = await server.request("GET", `${path}?orgId=${orgId}`, { token: stranger.token });
      expect([foreign.status, foreign.body.code]).toEqual([403, "ORG_ACCESS_DENIED"]);
      const viewer = await server.signIn({ role: "Org Viewer", orgId });
      const refused = await server.request("GET", path, { token: viewer.token });
      expect([refused.status, refused.body.code]).toEqual([403, "PERMISSION_DENIED"]);
      const unnamed = await server.request("GET", path, { token: system.token });
      expect([unnamed.status, unnamed.body.code]).toEqual([400, "PARTNER_ID_REQUIRED"]);
    }
  });
});
