import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { partnerReadScopes } from "#contract/core/key-scopes";
import { seedTenant, type Tenant } from "#fixtures/world";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, type SignedInUser, START, startTestServer, type TestServer } from "../../../test/harness.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const inDays = (days: number) => new Date(Date.parse(START) + days * 86_400_000).toISOString();

describe.each(databases)("partner service principals on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let other: Tenant;
  let admin: SignedInUser;
  let made = 0;

  beforeAll(async () => {
    server = await startTestServer(database);
    acme = await seedTenant(server.db, server.services, "acme");
    other = await seedTenant(server.db, server.services, "other");
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
  });
  afterAll(() => server?.stop());

  const send = (method: string, path: string, body?: object, token = admin.token) =>
    server.request(method, `/partner-service-principals${path}`, { token, ...(body ? { body } : {}) });
  const create = (body: object = {}, token?: string) => send("POST", "", { name: `machine ${++made}`, ...body }, token);
  const principal = async (body: object = {}) => {
    const answer = await create(body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const listed = async (id: string) => (await send("GET", "")).body.data.find((one: { id: string }) => one.id === id);

  it("reads only, unless writing is asked for, and reaches everything, unless confined", async () => {
    expect(await principal()).toMatchObject({
      partnerId: acme.partnerId,
      scopes: [...partnerReadScopes],
      status: "active",
      orgAccess: "all",
      orgIds: [],
      expiresAt: null,
      sourceCidrs: [],
      keys: [],
      createdBy: admin.userId,
    });
    expect(await principal({ scopes: ["sites:write"], orgAccess: "selected", orgIds: [acme.orgId] })).toMatchObject({
      scopes: ["sites:write"],
      orgIds: [acme.orgId],
    });
  });

  it("refuses wildcards, unknown scopes, unreadable networks, a past end, foreign organizations and a taken name", async () => {
    const code = async (body: object) => (await create(body)).body.code;
    expect(await code({ scopes: ["*"] })).toBe("WILDCARD_SCOPE");
    expect(await code({ scopes: ["tickets:read"] })).toBe("UNSUPPORTED_SCOPE");
    expect(await code({ sourceCidrs: ["10.0.0.0/8", "10.0.0.0/33"] })).toBe("VALIDATION_ERROR");
    expect(await code({ sourceCidrs: ["2001:db8::/32", "::1", "192.0.2.7"] })).toBeUndefined();
    expect(await code({ expiresAt: START })).toBe("VALIDATION_ERROR");
    expect(await code({ orgAccess: "selected" })).toBe("ORG_IDS_REQUIRED");
    expect(await code({ orgIds: [acme.orgId] })).toBe("ORG_IDS_NOT_ALLOWED");
    expect(await code({ orgAccess: "selected", orgIds: [acme.orgId, other.orgId] })).toBe("ORG_NOT_IN_PARTNER");
    expect(await code({ name: "provisioning" })).toBe("NAME_TAKEN");
  });

  it("gets no scope that the caller does not hold: on create, change, issue and rotation", async () => {
    const { id } = await principal({ scopes: ["sites:write"] });
    const key = (await send("POST", `/${id}/keys`, { name: "one" })).body;
    const limited = await server.signIn({
      role: "custom",
      partnerId: acme.partnerId,
      permissions: ["organizations:read", "organizations:write", "devices:read"],
    });
    const own = await create({ scopes: ["organizations:read", "inventory:read"] }, limited.token);
    expect(own.status).toBe(201);
    for (const answer of [
      await create({ scopes: ["sites:write"] }, limited.token),
      await send("PATCH", `/${own.body.id}`, { scopes: ["sites:write"] }, limited.token),
      await send("POST", `/${id}/keys`, { name: "two" }, limited.token),
      await send("POST", `/${id}/keys/${key.keyId}/rotate`, undefined, limited.token),
    ]) {
      expect([answer.status, answer.body.code, answer.body.details]).toEqual([
        403,
        "SCOPE_DELEGATION_DENIED",
        { scope: "sites:write" },
      ]);
    }
  });

  it("has several keys, each shown once", async () => {
    const { id } = await principal();
    const first = (await send("POST", `/${id}/keys`, { name: "one", rateLimit: 50, expiresAt: inDays(9) })).body;
    const second = (await send("POST", `/${id}/keys`, { name: "two" })).body;
    expect(first.key).toMatch(/^svc_sp_[A-Za-z0-9_-]{43}$/);
    expect(first.keyPrefix).toBe(first.key.slice(0, 18));
    const shown = await listed(id);
    expect(shown.keys.map((key: { name: string; status: string }) => [key.name, key.status])).toEqual([
      ["two", "active"],
      ["one", "active"],
    ]);
    expect(shown.keys[1]).toMatchObject({ rateLimit: 50, expiresAt: inDays(9), lastUsedAt: null, rotatedFromId: null });
    const everything = JSON.stringify([await send("GET", ""), await auditEntries(server)]);
    for (const { key } of [first, second]) {
      expect(everything).not.toContain(key);
      expect(everything).not.toContain(sha256(key));
    }
  });

  it("rotates one key into one successor with its settings, however many rotations race", async () => {
    const { id } = await principal();
    const old = (await send("POST", `/${id}/keys`, { name: "one", rateLimit: 50, expiresAt: inDays(9) })).body;
    const answers = await Promise.all(Array.from({ length: 5 }, () => send("POST", `/${id}/keys/${old.keyId}/rotate`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    const { keys } = await listed(id);
    const successor = keys.find((key: { status: string }) => key.status === "active");
    expect(successor).toMatchObject({ name: "one", rateLimit: 50, expiresAt: inDays(9), rotatedFromId: old.keyId });
    expect(keys).toHaveLength(2);
    expect(keys.find((key: { id: string }) => key.id === old.keyId)).toMatchObject({
      status: "revoked",
      revokedAt: server.clock.now(),
    });
  });

  it("says when a key was revoked already, and records it once", async () => {
    const { id } = await principal();
    const { keyId } = (await send("POST", `/${id}/keys`, { name: "one" })).body;
    expect((await send("DELETE", `/${id}/keys/${keyId}`)).body).toEqual({ success: true, alreadyRevoked: false });
    expect((await send("DELETE", `/${id}/keys/${keyId}`)).body).toEqual({ success: true, alreadyRevoked: true });
    const entries = (await auditEntries(server, "partner_service_principal_key.revoke")).filter(
      (entry) => entry.resourceId === id,
    );
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ partnerId: acme.partnerId, orgId: null });
    expect((await send("DELETE", `/${acme.partnerPrincipalId}/keys/${keyId}`)).status).toBe(404);
  });

  it("refuses to rotate a revoked key for its state, also past its end", async () => {
    const { id } = await principal();
    const { keyId } = (await send("POST", `/${id}/keys`, { name: "one", expiresAt: inDays(9) })).body;
    await send("DELETE", `/${id}/keys/${keyId}`);
    for (const expiresAt of [inDays(9), inDays(-1)]) {
      await server.db.updateTable("partnerServicePrincipalKeys").set({ expiresAt }).where("id", "=", keyId).execute();
      const { status, body } = await send("POST", `/${id}/keys/${keyId}/rotate`);
      expect([status, body.code, body.details]).toEqual([409, "INVALID_STATE", { status: "revoked" }]);
    }
  });

  it("leaves a key as it is whose end has passed when it is to be rotated", async () => {
    const { id } = await principal();
    const { keyId } = (await send("POST", `/${id}/keys`, { name: "one", expiresAt: inDays(9) })).body;
    const row = server.db.selectFrom("partnerServicePrincipalKeys").selectAll().where("principalId", "=", id);
    await server.db
      .updateTable("partnerServicePrincipalKeys")
      .set({ expiresAt: inDays(-1) })
      .where("id", "=", keyId)
      .execute();
    const before = await row.execute();
    expect((await send("POST", `/${id}/keys/${keyId}/rotate`)).status).toBe(400);
    expect(await row.execute()).toEqual(before);
  });

  it("gets no keys while disabled, and can be enabled again", async () => {
    const { id } = await principal();
    expect((await send("PATCH", `/${id}`, { status: "disabled" })).body.status).toBe("disabled");
    expect((await send("POST", `/${id}/keys`, { name: "one" })).body.code).toBe("INVALID_STATE");
    expect((await send("PATCH", `/${id}`, { status: "active" })).status).toBe(200);
    expect((await send("POST", `/${id}/keys`, { name: "one" })).status).toBe(201);
  });

  it("changes its organizations as a whole, judged together with its access", async () => {
    const { id } = await principal({ orgAccess: "selected", orgIds: [acme.orgId] });
    expect((await send("PATCH", `/${id}`, { orgIds: [acme.secondOrgId] })).body.orgIds).toEqual([acme.secondOrgId]);
    expect((await send("PATCH", `/${id}`, { orgIds: [] })).body.code).toBe("ORG_IDS_REQUIRED");
    expect((await send("PATCH", `/${id}`, { orgIds: [other.orgId] })).body.code).toBe("ORG_NOT_IN_PARTNER");
    expect((await send("PATCH", `/${id}`, { orgAccess: "all" })).body).toMatchObject({ orgAccess: "all", orgIds: [] });
    expect((await send("PATCH", `/${id}`, { orgAccess: "selected" })).body.code).toBe("ORG_IDS_REQUIRED");
    const entry = (await auditEntries(server, "partner_service_principal.update")).filter(
      (one) => one.resourceId === id,
    );
    expect(entry[0]?.details).toMatchObject({ changedFields: ["orgIds"] });
  });

  it("is managed by system callers who name the partner, and not by partner users with fewer organizations", async () => {
    const system = await server.signIn({ role: "System Admin" });
    expect((await send("GET", "", undefined, system.token)).body.code).toBe("PARTNER_ID_REQUIRED");
    expect((await create({}, system.token)).body.code).toBe("PARTNER_ID_REQUIRED");
    const body = { partnerId: other.partnerId };
    expect((await create(body, system.token)).body).toMatchObject({ partnerId: other.partnerId });
    expect((await create(body)).body.code).toBe("PARTNER_ACCESS_DENIED");
    const some = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId, orgAccess: "selected" });
    expect((await create({}, some.token)).body.code).toBe("FULL_PARTNER_ACCESS_REQUIRED");
  });
});
