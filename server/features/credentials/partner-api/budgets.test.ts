import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedTenant, type Tenant } from "#fixtures/world";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("budgets and replays of the partner API on %s", (database) => {
  let server: TestServer;
  let acme: Tenant;
  let token: string;
  let made = 0;

  beforeAll(async () => {
    server = await startTestServer(database);
  });
  beforeEach(async () => {
    made += 1;
    acme = await seedTenant(server.db, server.services, `tenant-${made}`);
    token = (await server.signIn({ role: "Partner Admin", partnerId: acme.partnerId })).token;
  });
  afterAll(() => server?.stop());

  const path = () => `/partner-service-principals/${acme.partnerPrincipalId}`;
  const issue = async (body: object = {}) =>
    (await server.request("POST", `${path()}/keys`, { token, body: { name: "k", ...body } })).body as {
      keyId: string;
      key: string;
    };
  const allow = (rateLimit: number) => server.request("PATCH", path(), { token, body: { rateLimit } });
  const look = async (key: string) => {
    const { status, headers } = await server.request("GET", "/partner-api/sites", { headers: { "x-api-key": key } });
    return [status, headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")];
  };
  const shownLimits = async () => {
    const { body } = await server.request("GET", "/partner-service-principals", { token });
    const [shown] = body.data as { rateLimit: number; keys: { id: string; rateLimit: number }[] }[];
    return { own: shown?.rateLimit, of: (id: string) => shown?.keys.find((key) => key.id === id)?.rateLimit };
  };
  const created = (body: object, headers: Record<string, string>) =>
    server.request("POST", "/partner-api/organizations", {
      headers: { "x-api-key": acme.partnerKey, ...headers },
      body,
    });
  const entriesOf = async (keyId: string) => (await auditEntries(server)).filter((entry) => entry.actorId === keyId);

  it("count the uses of all keys of a principal together, so that another key gives no more", async () => {
    const [one, two] = [await issue(), await issue()];
    await allow(3);
    expect(await look(one.key)).toEqual([200, "3", "2"]);
    expect(await look(two.key)).toEqual([200, "3", "1"]);
    expect(await look(one.key)).toEqual([200, "3", "0"]);
    for (const { key } of [one, two, await issue()]) expect((await look(key))[0]).toBe(429);
    const rotated = await server.request("POST", `${path()}/keys/${one.keyId}/rotate`, { token });
    expect((await look(rotated.body.key))[0]).toBe(429);
    await allow(4);
    expect(await look(two.key)).toEqual([200, "4", "0"]);
  });

  it("let exactly the principal's number through when its keys are used at once", async () => {
    const keys = [await issue(), await issue(), await issue()];
    await allow(10);
    const answers = await Promise.all(Array.from({ length: 45 }, (_, at) => look(keys[at % 3]?.key ?? "")));
    expect(answers.filter(([status]) => status === 200)).toHaveLength(10);
    expect(answers.filter(([status]) => status === 429)).toHaveLength(35);
  });

  it("are narrowed by a key's own limit and never widened; refused uses cost the principal nothing", async () => {
    const [narrow, wide] = [await issue({ rateLimit: 2 }), await issue({ rateLimit: 9_000 })];
    await allow(5);
    expect((await shownLimits()).own).toBe(5);
    expect((await shownLimits()).of(narrow.keyId)).toBe(2);
    expect((await shownLimits()).of(wide.keyId)).toBe(5);
    expect(await look(narrow.key)).toEqual([200, "2", "1"]);
    expect(await look(narrow.key)).toEqual([200, "2", "0"]);
    for (let at = 0; at < 4; at += 1) expect((await look(narrow.key))[0]).toBe(429);
    expect(await look(wide.key)).toEqual([200, "5", "2"]);
    await allow(9_500);
    expect((await shownLimits()).of(wide.keyId)).toBe(9_000);
  });

  it("record a write that is answered from memory as such, with what it made, and charge it once", async () => {
    const headers = { "x-idempotency-key": "replayed-0001" };
    const body = { name: "Once", slug: `once-${made}` };
    const first = await created(body, headers);
    expect(first.status, JSON.stringify(first.body)).toBe(201);
    for (let at = 0; at < 2; at += 1) {
      const again = await created(body, headers);
      expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
    }
    const entries = await entriesOf(acme.partnerKeyId);
    expect(entries.map(({ action }) => action).sort()).toEqual([
      "organization.create",
      "partner_api.write",
      "partner_api.write",
      "partner_api.write",
    ]);
    const replays = entries.filter(({ details }) => details["replayed"] === true);
    expect(replays).toHaveLength(2);
    for (const entry of replays)
      expect(entry).toMatchObject({
        ...{ partnerId: acme.partnerId, orgId: null, result: "success", resourceType: "organization" },
        ...{ resourceId: first.body.data.id, resourceName: "Once" },
        details: {
          partnerServicePrincipalId: acme.partnerPrincipalId,
          ...{ resource: "organizations", recordCount: 1, httpStatus: 201, durationMs: expect.any(Number) },
        },
      });
    const limit = { name: "partner-writes", max: 120, windowSeconds: 3_600 };
    const left = await server.db
      .transaction()
      .execute((tx) => server.services.limiter.takeWithin(tx, limit, acme.partnerPrincipalId));
    expect(left.remaining).toBe(118);
  });

  it("record a replay of a mint without its secret", async () => {
    const send = () =>
      server.request("POST", "/partner-api/enrollment-keys", {
        headers: { "x-api-key": acme.partnerKey, "x-idempotency-key": "replayed-0002" },
        body: { orgId: acme.orgId, name: "rollout" },
      });
    const first = await send();
    expect((await send()).body).toEqual(first.body);
    const replay = (await entriesOf(acme.partnerKeyId)).find(({ details }) => details["replayed"] === true);
    expect(replay).toMatchObject({ resourceType: "enrollment_key", resourceId: first.body.data.id });
    expect(JSON.stringify(await entriesOf(acme.partnerKeyId))).not.toContain(first.body.key);
  });
});
