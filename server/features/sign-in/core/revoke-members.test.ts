import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtInRoleId } from "#server/access/roles";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("sessions of a closed tenant's members on %s", (database) => {
  let server: TestServer;
  let admin: SignedInUser;
  beforeAll(async () => {
    server = await startTestServer(database);
    admin = await server.signIn({ role: "System Admin" });
  });
  afterAll(() => server?.stop());

  const alive = async ({ token }: SignedInUser) => (await server.request("GET", "/users/me", { token })).status === 200;

  /** A partner whose administrator has made these people members of its organization. */
  async function captors(slug: string, people: SignedInUser[]) {
    const { partnerId, orgIds } = await seedPartner(server, slug, [`${slug}-trap`]);
    const orgId = orgIds[0] as string;
    const owner = await server.signIn({ role: "Partner Admin", partnerId });
    for (const { email } of people) {
      const body = { email, name: "x", roleId: builtInRoleId("Org Viewer"), orgId };
      expect((await server.request("POST", "/users/invite", { token: owner.token, body })).status).toBe(201);
    }
    const own = await server.signIn({ role: "Org Viewer", orgId });
    return { partnerId, orgId, owner, own };
  }

  it("end with a deleted organization, but not those of people who belong elsewhere as well", async () => {
    const home = await seedPartner(server, "home", ["home-1"]);
    const staff = await server.signIn({ role: "Partner Admin", partnerId: home.partnerId });
    const customer = await server.signIn({ role: "Org Admin", orgId: home.orgIds[0] as string });
    const { orgId, owner, own } = await captors("deletes", [admin, staff, customer]);
    const deleted = await server.request("DELETE", `/orgs/organizations/${orgId}`, { token: owner.token });
    expect(deleted.status).toBe(200);
    expect(await Promise.all([admin, staff, customer, owner].map(alive))).toEqual([true, true, true, true]);
    expect(await alive(own)).toBe(false);
  });

  it("end with a deleted partner, its staff's and its organizations' people's, but not guests'", async () => {
    const home = await seedPartner(server, "house", ["house-1"]);
    const staff = await server.signIn({ role: "Partner Admin", partnerId: home.partnerId });
    const customer = await server.signIn({ role: "Org Admin", orgId: home.orgIds[0] as string });
    const { partnerId, owner, own } = await captors("leaves", [admin, staff, customer]);
    const deleted = await server.request("DELETE", `/orgs/partners/${partnerId}`, { token: admin.token });
    expect(deleted.status).toBe(200);
    expect(await Promise.all([admin, staff, customer].map(alive))).toEqual([true, true, true]);
    expect(await Promise.all([owner, own].map(alive))).toEqual([false, false]);
  });
});
