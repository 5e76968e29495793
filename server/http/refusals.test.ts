import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { apiKey } from "#contract/core/access";
import { post, resource } from "#contract/core/endpoint";
import { seedTenant, type Tenant } from "#fixtures/world";
import { asOwner } from "../test/as-owner.ts";
import { auditEntries } from "../test/audit-entries.ts";
import { auditOf } from "../test/audit-of.ts";
import { enroll, makeKey } from "../test/enroll.ts";
import { type DatabaseName, databases, type SignedInUser, startTestServer, type TestServer } from "../test/harness.ts";
import { implement } from "./implement.ts";
import { httpApp } from "./router.ts";

/** An endpoint of this test alone: the product's own that take API keys are still to come. */
const probes = resource(
  { name: "probes", summary: "Endpoints of this test", audits: [] },
  {
    push: post("/probes", {
      summary: "x",
      access: apiKey("devices:write"),
      audit: "site.update",
      loses: "nothing",
      returns: () => z.object({ ok: z.boolean() }),
    }),
  },
);

describe.each(databases)("refused requests on %s", (database: DatabaseName) => {
  let server: TestServer;
  let probe: Server;
  let acme: Tenant;
  let admin: SignedInUser;
  let made = 0;

  beforeAll(async () => {
    server = await startTestServer(database);
    probe = createServer(httpApp(server.services, implement(probes, { push: async () => ({ ok: true }) })));
    await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  });
  beforeEach(async () => {
    made += 1;
    acme = await seedTenant(server.db, server.services, `tenant-${made}`);
    admin = await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId });
  });
  afterAll(async () => {
    probe?.close();
    await server?.stop();
  });

  const partnerApi = (method: string, path: string, key = acme.partnerKey, body?: object) =>
    server.request(method, `/partner-api${path}`, { headers: { "x-api-key": key }, ...(body ? { body } : {}) });
  const push = async (key: string) => {
    const url = `http://127.0.0.1:${(probe.address() as AddressInfo).port}/api/v1/probes`;
    const response = await fetch(url, { method: "POST", headers: { "x-api-key": key } });
    return { status: response.status, body: (await response.json()) as { code: string } };
  };
  const byKey = (keyId: string, action?: string) =>
    auditOf(server, (entry) => entry.actorId === keyId && (action === undefined || entry.action === action));
  const counted = async (keyId: string) => {
    const windows = await server.db.selectFrom("auditRefusals").select(["kind", "count", "template"]).execute();
    return windows.find(({ kind, template }) => kind === "like" && template.includes(keyId))?.count;
  };
  const setPrincipal = (change: object) =>
    server.db.updateTable("partnerServicePrincipals").set(change).where("id", "=", acme.partnerPrincipalId).execute();
  const setKey = (change: object) =>
    server.db.updateTable("partnerServicePrincipalKeys").set(change).where("id", "=", acme.partnerKeyId).execute();
  const setDevice = (id: string, status: "quarantined" | "decommissioned") =>
    server.db.updateTable("devices").set({ status }).where("id", "=", id).execute();
  const archive = () =>
    server.db.updateTable("organizations").set({ status: "archived" }).where("id", "=", acme.orgId).execute();
  const revoke = ({ userId }: SignedInUser) =>
    server.db.updateTable("sessions").set({ revokedAt: server.clock.now() }).where("userId", "=", userId).execute();
  const past = () => new Date(server.clock.nowMs() - 1_000).toISOString();

  it.each<[string, () => Promise<unknown>]>([
    ["source_address", () => setPrincipal({ sourceCidrs: ["192.0.2.0/24"] })],
    ["revoked", () => setKey({ status: "revoked" })],
    ["expired", () => setKey({ expiresAt: past() })],
    ["principal_disabled", () => setPrincipal({ status: "disabled" })],
    ["principal_expired", () => setPrincipal({ expiresAt: past() })],
    [
      "partner_inactive",
      () => server.db.updateTable("partners").set({ status: "suspended" }).where("id", "=", acme.partnerId).execute(),
    ],
  ])("show the partner that a known key knocks: %s", async (reason, change) => {
    await change();
    for (const [method, path, action] of [
      ["GET", "/devices", "partner_api.export"],
      ["POST", "/sites", "partner_api.write"],
    ] as const) {
      const answer = await partnerApi(method, path);
      expect([answer.status, answer.body.code]).toEqual([401, "API_KEY_INVALID"]);
      expect(JSON.stringify(answer.body)).not.toContain(reason);
      const [entry, ...more] = await byKey(acme.partnerKeyId, action);
      expect(more).toEqual([]);
      expect(entry).toMatchObject({
        partnerId: acme.partnerId,
        orgId: null,
        actorType: "api_key",
        result: "denied",
        details: {
          partnerServicePrincipalId: acme.partnerPrincipalId,
          resource: path.slice(1),
          recordCount: 0,
          httpStatus: 401,
          durationMs: expect.any(Number),
          reason,
        },
      });
    }
  });

  it("leave nothing of a key that nobody has", async () => {
    const before = (await auditEntries(server)).length;
    expect((await partnerApi("GET", "/devices", `svc_sp_${"a".repeat(43)}`)).status).toBe(401);
    expect((await partnerApi("GET", "/devices", "svc_sp_short")).status).toBe(401);
    expect((await push("svc_unknown")).status).toBe(401);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await auditEntries(server)).toHaveLength(before);
  });

  it("show the organization that a known API key knocks, and why it is refused", async () => {
    const key = async (body: object = {}) => {
      const given = { orgId: acme.orgId, name: "k", scopes: ["devices:write"], ...body };
      const answer = await server.request("POST", "/api-keys", { token: admin.token, body: given });
      return answer.body as { id: string; key: string };
    };
    const refused = async (one: { id: string; key: string }, code: string, details: object) => {
      const answer = await push(one.key);
      expect([answer.status, answer.body.code]).toEqual([code === "API_KEY_SCOPE_REQUIRED" ? 403 : 401, code]);
      const [entry] = await byKey(one.id);
      const common = { orgId: acme.orgId, actorType: "api_key", action: "site.update", result: "denied" };
      expect(entry).toMatchObject({ ...common, details: { errorCode: code, ...details } });
    };
    const revoked = await key();
    await server.request("DELETE", `/api-keys/${revoked.id}`, { token: admin.token });
    await refused(revoked, "API_KEY_REVOKED", { reason: "revoked" });
    const expired = await key();
    await server.db.updateTable("apiKeys").set({ expiresAt: past() }).where("id", "=", expired.id).execute();
    await refused(expired, "API_KEY_EXPIRED", { reason: "expired" });
    await refused(await key({ scopes: ["devices:read"] }), "API_KEY_SCOPE_REQUIRED", {});
    const orphan = await key();
    await server.db
      .updateTable("apiKeys")
      .set({ createdBy: null } as never)
      .where("id", "=", orphan.id)
      .execute();
    await refused(orphan, "API_KEY_OWNER_INACTIVE", { reason: "creator_inactive" });
    const principal = { orgId: acme.orgId, name: `p${made}`, scopes: ["devices:write"] };
    const { id } = (await server.request("POST", "/service-principals", { token: admin.token, body: principal })).body;
    const rotated = (await server.request("POST", `/service-principals/${id}/rotate`, { token: admin.token })).body;
    await server.db.updateTable("servicePrincipals").set({ status: "disabled" }).where("id", "=", id).execute();
    const owned = { id: rotated.apiKeyId, key: rotated.key };
    await refused(owned, "API_KEY_OWNER_INACTIVE", { reason: "principal_disabled", servicePrincipalId: id });
  });

  it("show the organization that a key which was taken away is read with", async () => {
    const given = { orgId: acme.orgId, name: "k", scopes: ["devices:read"] };
    const { id, key } = (await server.request("POST", "/api-keys", { token: admin.token, body: given })).body;
    const read = (path: string) => server.request("GET", path, { headers: { "x-api-key": key } });
    const path = `/devices/${acme.deviceId}/custom-fields`;
    expect((await read(path)).status).toBe(200);
    await server.request("DELETE", `/api-keys/${id}`, { token: admin.token });
    const answer = await read(path);
    expect([answer.status, answer.body.code]).toEqual([401, "API_KEY_REVOKED"]);
    expect(await byKey(id)).toMatchObject([
      {
        ...{ orgId: acme.orgId, actorType: "api_key", action: "api_key.refused", result: "denied" },
        details: { errorCode: "API_KEY_REVOKED", reason: "revoked" },
      },
    ]);
  });

  it.each<[string, "Partner Admin" | "Org Admin" | "System Admin", (who: SignedInUser) => Promise<unknown>]>([
    ["a session that was revoked", "Partner Admin", (who) => revoke(who)],
    [
      "a membership that was lost",
      "Org Admin",
      (who) => server.db.deleteFrom("organizationUsers").where("userId", "=", who.userId).execute(),
    ],
    [
      "an administrator who is none any more",
      "System Admin",
      (who) => server.db.updateTable("users").set({ isPlatformAdmin: false }).where("id", "=", who.userId).execute(),
    ],
  ])("show the caller's tenant that somebody uses %s", async (_, role, end) => {
    const tenant = {
      "Partner Admin": { partnerId: acme.partnerId },
      "Org Admin": { orgId: acme.orgId },
      "System Admin": {},
    }[role];
    const email = `ended-${made}@msp.example`;
    const who = await server.signIn({ role, email, ...tenant });
    await end(who);
    const body = { orgId: acme.orgId, name: "Never", timezone: "UTC" };
    const answer = await server.request("POST", "/orgs/sites", { token: who.token, body });
    expect([answer.status, answer.body.code]).toEqual([401, "UNAUTHENTICATED"]);
    expect(JSON.stringify(answer.body)).not.toContain("session_ended");
    const entries = await auditOf(server, (entry) => entry.actorId === who.userId && entry.action === "site.create");
    expect(entries).toMatchObject([
      {
        ...{ orgId: null, partnerId: null, ...tenant, actorType: "user", result: "denied" },
        details: { errorCode: "UNAUTHENTICATED", reason: "session_ended", sessionId: who.sessionId },
      },
    ]);
    expect(await server.db.selectFrom("sites").selectAll().where("name", "=", "Never").execute()).toEqual([]);
  });

  it.each<[string, string, (deviceId: string) => Promise<unknown>]>([
    ["quarantined", "DEVICE_QUARANTINED", (id) => setDevice(id, "quarantined")],
    ["decommissioned", "DEVICE_DECOMMISSIONED", (id) => setDevice(id, "decommissioned")],
    ["organization_inactive", "INVALID_AGENT_CREDENTIALS", () => archive()],
  ])("show the organization what an agent tries: %s", async (reason, code, end) => {
    const key = await makeKey(server, { orgId: acme.orgId, siteId: acme.siteId });
    const { agentId, agentToken, deviceId } = (await enroll(server, key, { hostname: `pc-${made}` })).body;
    await end(deviceId);
    const path = `/agents/${agentId}/rotate-token`;
    const answer = await server.request("POST", path, { token: agentToken });
    expect([answer.status >= 401, answer.body.code]).toEqual([true, code]);
    const mine = await auditOf(server, (entry) => entry.actorId === deviceId && entry.action === "agent.token.rotate");
    expect(mine).toMatchObject([
      {
        ...{ orgId: acme.orgId, actorType: "agent", result: "denied" },
        details: { errorCode: code, reason, siteIds: [acme.siteId] },
      },
    ]);
  });

  it("of the partner API are all recorded, elsewhere not those that are wrong in themselves or too many", async () => {
    await setKey({ rateLimit: 2 });
    for (const wanted of [400, 400, 429]) expect((await partnerApi("GET", "/sites?bad=1")).status).toBe(wanted);
    await expect.poll(async () => (await byKey(acme.partnerKeyId)).length).toBe(3);
    expect((await byKey(acme.partnerKeyId)).map(({ result, details }) => [result, details["httpStatus"]])).toEqual([
      ["failure", 400],
      ["failure", 400],
      ["failure", 429],
    ]);
    const site = (body: unknown) => server.request("POST", "/orgs/sites", { token: admin.token, body });
    expect((await site({ orgId: acme.orgId, name: "" })).status).toBe(400);
    expect((await site({ orgId: acme.orgId, name: "x".repeat(1_100_000) })).status).toBe(413);
    expect((await site({ orgId: server.services.random.uuid(), name: "s", timezone: "UTC" })).status).toBe(403);
    const mine = await auditOf(server, (entry) => entry.actorId === admin.userId && entry.action === "site.create");
    expect(mine.map(({ details }) => details["errorCode"])).toEqual(["ORG_ACCESS_DENIED"]);
  });

  it("that come again and again are recorded ten times, then counted", async () => {
    await setKey({ status: "revoked" });
    for (let at = 0; at < 14; at += 1) await partnerApi("GET", "/devices");
    // Refusals are recorded after their answers: the window must hold all of them before it ends.
    await expect.poll(() => counted(acme.partnerKeyId)).toBe(14);
    expect(await byKey(acme.partnerKeyId)).toHaveLength(10);
    server.clock.advance(5 * 60_000);
    await partnerApi("GET", "/devices");
    await expect.poll(async () => (await byKey(acme.partnerKeyId)).length).toBe(12);
    const counts = (await byKey(acme.partnerKeyId)).map(({ details }) => details["repeated"]);
    expect(counts.filter((count) => count !== undefined)).toEqual([4]);
  });

  it("wait where the database takes no writes, which gauge and readiness tell, and are recorded when it does", async () => {
    const lost = async () => (await server.services.metrics.lostRefusals.get()).values[0]?.value;
    const ready = async () => {
      server.clock.advance(2_000);
      const { status, body } = await server.request("GET", "/health/ready");
      return [status, body.checks.audit];
    };
    await breakOutbox(server, true);
    const body = { orgId: server.services.random.uuid(), name: "s", timezone: "UTC" };
    const refused = await server.request("POST", "/orgs/sites", { token: admin.token, body });
    expect(refused.status).toBe(403);
    await expect.poll(lost).toBe(1);
    expect(await ready()).toEqual([503, "error"]);
    await breakOutbox(server, false);
    expect(await ready()).toEqual([200, "ok"]);
    expect(await lost()).toBe(0);
    const mine = await auditOf(server, (entry) => entry.actorId === admin.userId);
    expect(mine.map(({ details }) => details["errorCode"])).toEqual(["ORG_ACCESS_DENIED"]);
  });
});

/** As on a full disk: nothing can be added to the outbox. */
async function breakOutbox(server: TestServer, broken: boolean): Promise<void> {
  const statements =
    server.services.store.dialect === "sqlite"
      ? broken
        ? ["create trigger full_disk before insert on audit_outbox begin select raise(abort, 'disk is full'); end"]
        : ["drop trigger full_disk"]
      : broken
        ? ["alter table audit_outbox add constraint full_disk check (false) not valid"]
        : ["alter table audit_outbox drop constraint full_disk"];
  await asOwner(server, statements);
}
