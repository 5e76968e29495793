import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedWorld, type World } from "#fixtures/world";
import { enroll, makeKey } from "../test/enroll.ts";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../test/harness.ts";

describe.each(databases)("one spelling on %s", (database) => {
  let server: TestServer;
  let world: World;
  let admin: SignedInUser;
  beforeAll(async () => {
    server = await startTestServer(database);
    world = await seedWorld(server.db, server.services);
    admin = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
  });
  afterAll(() => server?.stop());

  const post = (path: string, body: object) => server.request("POST", path, { token: admin.token, body });

  it("a name with what nobody can see is refused with its code, and nothing is made (C65)", async () => {
    for (const char of "\u200b\u00ad\u202e\u2066\u0007") {
      const body = { name: `Delta${char} Ltd`, slug: "delta" };
      const answer = await post("/orgs/organizations", body);
      expect([answer.status, answer.body.details?.[0].path]).toEqual([400, "name"]);
      expect(answer.body.error).toMatch(/U\+/);
    }
    const { body } = await server.request("GET", "/orgs/organizations?search=delta", { token: admin.token });
    expect(body.data).toEqual([]);
  });

  it("an address is stored and found in its one form, however it is written (C65)", async () => {
    const path = `/orgs/organizations/${world.a.orgId}/contacts`;
    for (const email of ["Ana@BÜCHER.example", "ana@bu\u0308cher.example", " ana@xn--bcher-kva.example"]) {
      const { status, body } = await post(path, { email });
      expect([status, body.email]).toEqual([201, "ana@xn--bcher-kva.example"]);
    }
    for (const email of ["ａna@x.example", "a\u200bna@x.example", "\u212Aai@x.example"])
      expect((await post(path, { email })).status).toBe(400);
  });

  it("what a machine reports is kept, and what nobody can see in it is shown (C65)", async () => {
    const key = await makeKey(server, { orgId: world.a.orgId });
    const { status, body } = await enroll(server, key, { hostname: "pc\u202e-\u200b1" });
    expect(status).toBe(201);
    const { body: device } = await server.request("GET", `/devices/${body.deviceId}`, { token: admin.token });
    expect(device.hostname).toBe("pc\ufffd-\ufffd1");
  });
});
