import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answers, startWebhookReceiver, type WebhookReceiver } from "#fixtures/simulators/webhook-receiver";
import { DAY } from "#server/platform/clock";
import { auditEntries } from "../../../test/audit-entries.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";
import { startWebhookTest, type WebhookTest } from "../../../test/webhooks.ts";
import { purgeDeliveries } from "./purge.ts";
import { openHeaders, openSecret, openUrl } from "./sealed.ts";

const MASK = "********";

describe.each(databases)("webhooks on %s", (database) => {
  let test: WebhookTest;
  beforeAll(async () => {
    test = await startWebhookTest(database);
  });
  beforeEach(async () => {
    test.receiver.reset();
    await test.server.db.deleteFrom("webhooks").execute();
  });
  afterAll(() => test?.stop());

  const row = (id: string) =>
    test.server.db.selectFrom("webhooks").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  /** What is kept of it, opened. */
  async function kept(id: string) {
    const { vault } = test.server.services;
    const stored = await row(id);
    return { url: openUrl(vault, stored), secret: openSecret(vault, stored), headers: openHeaders(vault, stored) };
  }
  const headers = [
    { key: "X-Tenant", value: "contoso" },
    { key: "Authorization", value: "Bearer of-the-receiver" },
  ];
  const SECRET = "a-secret-of-their-own";
  const withSecrets = () => ({ url: `${test.receiver.url("/in")}?token=t0ps3cret`, secret: SECRET, headers });
  const refused = async (id: string, body: object) => {
    const before = await row(id);
    const answer = await test.send("PATCH", `/${id}`, body);
    expect(await row(id)).toEqual(before);
    return [answer.status, answer.body.code, (answer.body.details as { path: string }[])?.map?.(({ path }) => path)];
  };

  it("are created active with what they need, and a secret that is made is shown once", async () => {
    const { id, secret, ...made } = await test.create({ retryPolicy: { maxRetries: 3 } });
    expect(secret).toMatch(/^whsec_/);
    expect(made).toMatchObject({
      status: "active",
      hasSecret: true,
      retryPolicy: { maxRetries: 3, initialDelayMs: 1_000, backoffMultiplier: 2, maxDelayMs: 300_000 },
    });
    const shown = (await test.send("GET", `/${id}`)).body;
    expect(shown).not.toHaveProperty("secret");
    expect(shown.deliveryStats).toEqual({
      total: 0,
      pending: 0,
      delivered: 0,
      failed: 0,
      retrying: 0,
      lastDeliveredAt: null,
    });
    expect((await kept(id)).secret).toBe(secret);
    expect(await test.create({ secret: SECRET })).not.toHaveProperty("secret");
  });

  it("are twenty of an organization at most, of which the last too is answered again with its secret", async () => {
    const one = await row((await test.create()).id);
    const more = Array.from({ length: 18 }, () => ({ ...one, id: test.server.services.random.uuid() }));
    await test.server.db.insertInto("webhooks").values(more).execute();
    const body = { orgId: test.orgId, name: "Last", url: test.receiver.url("/in"), events: ["site.*"] };
    const make = (key: string) =>
      test.server.request("POST", "/webhooks", {
        token: test.admin.token,
        body,
        headers: { "x-idempotency-key": key },
      });
    const last = await make("the-twentieth");
    expect([last.status, last.body.secret]).toEqual([201, expect.stringMatching(/^whsec_/)]);
    const again = await make("the-twentieth");
    expect([again.body, again.headers.get("idempotency-replayed")]).toEqual([last.body, "true"]);
    const over = await make("one-too-many");
    expect([over.status, over.body.code]).toEqual([422, "LIMIT_REACHED"]);
    expect((await test.server.db.selectFrom("webhooks").select("id").execute()).length).toBe(20);
  });

  it("show no secret anywhere, and store none in the clear", async () => {
    const { id } = await test.create(withSecrets());
    const everywhere = JSON.stringify([
      (await test.send("GET")).body,
      (await test.send("GET", `/${id}`)).body,
      (await test.send("PATCH", `/${id}`, { name: "Renamed" })).body,
      (await test.send("PATCH", `/${id}`, { secret: "another-secret-of-theirs" })).body,
      await row(id),
      await test.server.db.selectFrom("auditOutbox").selectAll().execute(),
      await auditEntries(test.server, "webhook.create"),
      await auditEntries(test.server, "webhook.update"),
    ]);
    for (const secret of [SECRET, "another-secret-of-theirs", "t0ps3cret", "contoso", "of-the-receiver"])
      expect(everywhere).not.toContain(secret);
    expect(everywhere).toContain(`?token=${MASK}`);
    expect((await auditEntries(test.server, "webhook.update")).at(-1)?.details).toMatchObject({
      changedFields: ["secret"],
    });
  });

  it("keep what reads as the mask: secret, values of headers, the address as it is shown", async () => {
    const { id, url } = await test.create(withSecrets());
    const masked = headers.map(({ key }) => ({ key, value: MASK }));
    const all = { url, secret: MASK, headers: masked, name: "Renamed" };
    expect((await test.send("PATCH", `/${id}`, all)).status).toBe(200);
    expect(await kept(id)).toEqual(withSecrets());
    const fewer = { headers: [{ key: "x-tenant" }, { key: "X-New", value: "new" }] };
    expect((await test.send("PATCH", `/${id}`, fewer)).body.headers.map((one: { key: string }) => one.key)).toEqual([
      "x-tenant",
      "X-New",
    ]);
    expect((await kept(id)).headers).toEqual([
      { key: "x-tenant", value: "contoso" },
      { key: "X-New", value: "new" },
    ]);
    const unknown = { headers: [{ key: "X-Unknown", value: MASK }] };
    expect(await refused(id, unknown)).toEqual([400, "VALIDATION_ERROR", ["headers[0].value"]]);
    const half = { url: `${url.replace("/in", "/other")}` };
    expect(await refused(id, half)).toEqual([400, "VALIDATION_ERROR", ["url"]]);
  });

  it("send no stored secret to another target: scheme, host or port takes all of them anew", async () => {
    const { id } = await test.create(withSecrets());
    const elsewhere = test.receiver.url("/in", "second.example");
    const anew = headers.map(({ key }) => ({ key, value: "given anew" }));
    const masked = anew.map(({ key }) => ({ key, value: MASK }));
    for (const url of [elsewhere, "https://hooks.example/in"]) {
      expect(await refused(id, { url })).toEqual([400, "VALIDATION_ERROR", ["secret", "headers"]]);
      expect(await refused(id, { url, secret: MASK, headers: anew })).toEqual([400, "VALIDATION_ERROR", ["secret"]]);
      expect(await refused(id, { url, secret: SECRET })).toEqual([400, "VALIDATION_ERROR", ["headers"]]);
      const kept = [400, "VALIDATION_ERROR", ["headers[0].value"]];
      expect(await refused(id, { url, secret: SECRET, headers: masked })).toEqual(kept);
    }
    expect((await test.send("PATCH", `/${id}`, { url: test.receiver.url("/elsewhere") })).status).toBe(200);
    const moved = await test.send("PATCH", `/${id}`, { url: elsewhere, secret: SECRET, headers: anew });
    expect([moved.status, (await kept(id)).url]).toEqual([200, elsewhere]);
  });

  it("lose no field of a retry policy that two change at once", async () => {
    const { id } = await test.create();
    const fields = Object.entries({ maxRetries: 1, initialDelayMs: 2_000, backoffMultiplier: 3, maxDelayMs: 4_000 });
    const saved = await Promise.all(
      fields.map(async ([name, value]) => {
        const { status } = await test.send("PATCH", `/${id}`, { retryPolicy: { [name]: value } });
        expect([200, 409]).toContain(status);
        return status === 200 ? [[name, value]] : [];
      }),
    );
    expect((await row(id)).retryPolicy).toMatchObject(Object.fromEntries(saved.flat()));
  });

  it.each([
    ["a reserved header", { headers: [{ key: "Host", value: "x" }] }, "VALIDATION_ERROR"],
    [
      "a header twice",
      {
        headers: [
          { key: "A", value: "x" },
          { key: "a", value: "y" },
        ],
      },
      "VALIDATION_ERROR",
    ],
    ["a header that breaks lines", { headers: [{ key: "A", value: "x\r\nB: y" }] }, "VALIDATION_ERROR"],
    ["an unknown kind", { events: ["site.created", "moon.landing"] }, "UNKNOWN_EVENT"],
    ["no kind", { events: [] }, "VALIDATION_ERROR"],
    ["http", { url: "http://93.184.216.34/" }, "UNSAFE_URL"],
    ["a private address", { url: "https://10.0.0.5/" }, "UNSAFE_URL"],
    ["an address of metadata", { url: "https://169.254.169.254/" }, "UNSAFE_URL"],
    ["a mapped address", { url: "https://[::ffff:10.0.0.5]/" }, "UNSAFE_URL"],
    ["a name that leads inside", { url: "https://moving.example/" }, "UNSAFE_URL"],
    ["a short secret", { secret: "short" }, "VALIDATION_ERROR"],
  ])("are not made, nor changed, with %s", async (_, body, code) => {
    test.receiver.dns.setAddresses("moving.example", ["127.0.0.1", "127.0.0.2"]);
    await expect(test.create(body)).rejects.toThrow(code);
    expect((await test.send("GET")).body.data).toEqual([]);
    const { id } = await test.create();
    const answer = await refused(id, { secret: SECRET, ...body });
    expect(answer.slice(0, 2)).toEqual([400, code]);
  });

  it("leave the contents of deliveries to who may write them, and everything to the whole organization", async () => {
    const { id } = await test.create();
    test.receiver.answer = answers.status(500, "broken");
    const { body } = await test.send("POST", `/${id}/test`);
    await test.server.deliver();
    const reader = await test.server.signIn({ role: "custom", permissions: ["organizations:read"], orgId: test.orgId });
    const path = `/webhooks/${id}/deliveries`;
    const [seen] = (await test.server.request("GET", path, { token: reader.token })).body.data;
    expect(seen).toMatchObject({ event: "webhook.test", status: "failed", responseStatus: 500 });
    for (const name of ["payload", "responseBody", "errorMessage"]) expect(seen).not.toHaveProperty(name);
    expect((await test.deliveries(id))[0]).toMatchObject({ responseBody: "broken", payload: { type: "webhook.test" } });
    const siteIds = [test.server.services.random.uuid()];
    const { token } = await test.server.signIn({ role: "Org Admin", orgId: test.orgId, siteIds });
    for (const [method, at] of [
      ["GET", "/webhooks"],
      ["GET", `/webhooks/${id}`],
      ["GET", path],
      ["POST", `/webhooks/${id}/test`],
      ["POST", `/webhooks/${id}/retry/${body.delivery.id}`],
      ["DELETE", `/webhooks/${id}`],
    ] as const) {
      const answer = await test.server.request(method, at, { token });
      expect([at, answer.status, answer.body.code]).toEqual([at, 403, "SITE_ACCESS_DENIED"]);
    }
    expect((await row(id)).id).toBe(id);
  });

  it("go with their deliveries; those older than 30 days go by themselves", async () => {
    const { id } = await test.create();
    for (let made = 0; made < 4; made += 1) await test.send("POST", `/${id}/test`);
    const old = { createdAt: new Date(test.server.clock.nowMs() - 30 * DAY).toISOString() };
    const expired = (await test.deliveries(id)).slice(0, 3).map((one) => one.id);
    await test.server.db
      .updateTable("webhookDeliveries")
      .set(old as never)
      .where("id", "in", expired)
      .execute();
    await purgeDeliveries(test.server.services, 2);
    const left = () => test.server.db.selectFrom("webhookDeliveries").select("id").execute();
    expect(await left()).toHaveLength(1);
    expect((await test.send("DELETE", `/${id}`)).body).toEqual({ success: true });
    expect(await left()).toEqual([]);
  });
});

describe("webhooks of a server whose operator allows private targets", () => {
  let receiver: WebhookReceiver;
  let server: TestServer;
  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    // Without a seam for what is public: its address is one of this machine.
    server = await startTestServer("sqlite", { WEBHOOK_ALLOW_PRIVATE: "true" });
  });
  afterAll(async () => {
    await server?.stop();
    await receiver?.stop();
  });

  it("lead there only where partner or system scope wrote them last, and keep nothing of the answer", async () => {
    const { partnerId, orgIds } = await seedPartner(server, "inside", ["one"]);
    const orgId = orgIds[0] as string;
    const partner = await server.signIn({ role: "Partner Admin", partnerId });
    const own = await server.signIn({ role: "Org Admin", orgId });
    const body = { name: "Inside", url: receiver.plainUrl("/in"), events: ["site.*"] };
    const byOrg = await server.request("POST", "/webhooks", { token: own.token, body });
    expect([byOrg.status, byOrg.body.code]).toEqual([400, "UNSAFE_URL"]);
    const made = await server.request("POST", "/webhooks", { token: partner.token, body: { ...body, orgId } });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const path = `/webhooks/${made.body.id}`;
    receiver.answer = answers.status(200, "internal");
    const tested = () => server.request("POST", `${path}/test`, { token: own.token });
    await tested();
    await server.deliver();
    const newest = async () => (await server.request("GET", `${path}/deliveries`, { token: own.token })).body.data[0];
    expect(await newest()).toMatchObject({ status: "delivered", responseStatus: 200, responseBody: null });
    const renamed = await server.request("PATCH", path, { token: own.token, body: { name: "Mine" } });
    expect([renamed.status, renamed.body.code]).toEqual([400, "UNSAFE_URL"]);
    const paused = await server.request("PATCH", path, { token: own.token, body: { status: "paused" } });
    expect([paused.status, paused.body.status]).toEqual([200, "paused"]);
    await server.db.updateTable("webhooks").set({ writtenBy: "organization" }).execute();
    server.clock.advance(1_000);
    await tested();
    await server.deliver();
    expect(await newest()).toMatchObject({ status: "failed", errorMessage: expect.stringContaining("https://") });
    expect(receiver.received).toHaveLength(1);
  });
});
