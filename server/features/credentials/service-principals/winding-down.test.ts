import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { enroll, makeKey } from "../../../test/enroll.ts";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("keys of an organization that is wound down on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let admin: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
  });
  afterAll(() => server?.stop());

  const call = (method: string, path: string, body?: object) =>
    server.request(method, path, { token: admin.token, ...(body && { body }) });
  const set = (status: string) => call("PATCH", `/orgs/organizations/${acme.orgId}`, { status });
  const use = (key: string) =>
    server.request("GET", `/devices/${acme.deviceId}/custom-fields`, { headers: { "x-api-key": key } });
  const make = async (path: string, body: object): Promise<{ id: string; key: string }> =>
    (await call("POST", path, { orgId: acme.orgId, name: "made", ...body })).body;
  const code = async (answer: Promise<{ status: number; body: { code?: string } }>) => {
    const { status, body } = await answer;
    return [status, body.code];
  };
  const statusOf = async (id: string) => (await call("GET", `/api-keys/${id}`)).body.status;

  it("stop for good as it begins; what gives power is refused, what takes it away is not", async () => {
    const scopes = ["devices:read"];
    const human = await make("/api-keys", { scopes });
    const [service, idle] = [
      await make("/service-principals", { scopes }),
      await make("/service-principals", { name: "idle", scopes }),
    ];
    const minted = (await call("POST", `/service-principals/${service.id}/rotate`)).body;
    const enrollment = await make("/enrollment-keys", {});
    for (const key of [human.key, minted.key]) expect((await use(key)).status).toBe(200);
    const member = await server.signIn({ role: "Org Admin", orgId: acme.orgId });

    expect((await set("offboarding")).status).toBe(200);

    for (const key of [human.key, minted.key]) expect(await code(use(key))).toEqual([401, "API_KEY_REVOKED"]);
    for (const id of [human.id, minted.apiKeyId]) expect(await statusOf(id)).toBe("revoked");
    expect((await server.request("GET", "/devices", { token: member.token })).status).toBe(401);
    // A principal is no key: it stays as it was, without one.
    expect((await call("GET", `/service-principals/${service.id}`)).body).toMatchObject({
      status: "active",
      currentKey: null,
    });
    const refused = [
      call("POST", "/api-keys", { orgId: acme.orgId, name: "late" }),
      call("PATCH", `/api-keys/${human.id}`, { name: "late" }),
      call("POST", `/api-keys/${human.id}/rotate`),
      call("POST", "/service-principals", { orgId: acme.orgId, name: "late" }),
      call("POST", `/service-principals/${service.id}/rotate`),
      call("POST", `/service-principals/${service.id}/migrate-key`, { keyId: human.id }),
      call("POST", "/enrollment-keys", { orgId: acme.orgId, name: "late" }),
      call("POST", `/enrollment-keys/${enrollment.id}/rotate`, {}),
    ];
    for (const answer of refused) expect(await code(answer)).toEqual([409, "ORG_READ_ONLY"]);
    expect(await code(enroll(server, { raw: enrollment.key }))).toEqual([403, "TENANT_OFFBOARDING"]);
    expect((await call("POST", `/service-principals/${idle.id}/disable`)).body.status).toBe("disabled");
    expect((await call("DELETE", `/enrollment-keys/${enrollment.id}`)).status).toBe(200);
    const keys = await server.db.selectFrom("apiKeys").select("name").where("orgId", "=", acme.orgId).execute();
    expect(keys.map(({ name }) => name)).not.toContain("late");

    expect((await set("active")).status).toBe(200);
    for (const key of [human.key, minted.key]) expect(await code(use(key))).toEqual([401, "API_KEY_REVOKED"]);
    const next = (await call("POST", `/service-principals/${service.id}/rotate`)).body;
    expect((await use(next.key)).status).toBe(200);
    expect(await code(call("POST", `/service-principals/${idle.id}/rotate`))).toEqual([409, "INVALID_STATE"]);
  });

  it("are out of reach of the partner's principals meanwhile", async () => {
    const asked = (method: string, path: string, body?: object) => {
      const headers = { "x-api-key": acme.partnerKey };
      return server.request(method, `/partner-api${path}`, { headers, ...(body && { body }) });
    };
    expect((await asked("GET", `/devices?orgId=${acme.orgId}`)).status).toBe(200);
    await set("offboarding");
    expect(await code(asked("GET", `/devices?orgId=${acme.orgId}`))).toEqual([404, "NOT_FOUND"]);
    expect((await asked("GET", "/devices")).body.data).toEqual([]);
    for (const path of ["/sites", "/enrollment-keys"])
      expect(await code(asked("POST", path, { orgId: acme.orgId, name: "late" }))).toEqual([403, "ORG_ACCESS_DENIED"]);
    await set("active");
    expect((await asked("GET", `/devices?orgId=${acme.orgId}`)).body.data).not.toEqual([]);
  });

  it.skipIf(database === "sqlite")("are not made beside its beginning", async () => {
    const scopes = ["devices:read"];
    const service = await make("/service-principals", { name: "racing", scopes });
    const key = await makeKey(server, { orgId: acme.orgId });
    const made = async () => {
      const devices = server.db.selectFrom("devices").select("id").where("orgId", "=", acme.orgId);
      const open = server.db.selectFrom("deviceCommands").select("id").where("status", "=", "pending");
      return [(await devices.execute()).length, (await open.execute()).length];
    };
    const before = await made();
    const calls = await server.db.transaction().execute(async (tx) => {
      await tx.updateTable("organizations").set({ status: "offboarding" }).where("id", "=", acme.orgId).execute();
      const waiting = [
        call("POST", "/api-keys", { orgId: acme.orgId, name: "beside", scopes }),
        call("POST", `/service-principals/${service.id}/rotate`),
        enroll(server, key, { hostname: "beside" }),
        call("POST", `/devices/${acme.deviceId}/commands`, { type: "lock" }),
      ];
      // Either they wait for it, or they have made what nobody will end.
      await Promise.race([Promise.all(waiting), new Promise((done) => setTimeout(done, 500))]);
      return { waiting };
    });
    const codes = (await Promise.all(calls.waiting)).map(({ body }) => body.code);
    expect(codes).toEqual(["ORG_READ_ONLY", "ORG_READ_ONLY", "TENANT_OFFBOARDING", "ORG_READ_ONLY"]);
    expect(await made()).toEqual(before);
  });
});
