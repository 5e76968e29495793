import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { numberEvents } from "#server/events/numbering";
import { purgeEvents } from "#server/events/purge";
import { DAY } from "#server/platform/clock";
import { databases, type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

describe.each(databases)("listening to events on %s", (database) => {
  let server: TestServer;
  let orgId: string;
  let otherId: string;
  let admin: SignedInUser;
  beforeAll(async () => {
    server = await startTestServer(database);
    const { partnerId, orgIds } = await seedPartner(server, "acme", ["one", "two"]);
    [orgId, otherId] = orgIds as [string, string];
    admin = await server.signIn({ role: "Partner Admin", partnerId });
  });
  afterAll(() => server?.stop());

  const listen = (query: Record<string, string>, token = admin.token) =>
    server.request("GET", `/webhooks/events?${new URLSearchParams({ orgId, ...query })}`, { token });
  const now = async () => (await listen({})).body.cursor as string;
  const happens = async (name: string, at = orgId) => {
    const made = await server.request("POST", "/orgs/sites", { token: admin.token, body: { orgId: at, name } });
    expect(made.status).toBe(201);
  };
  /** Asks until something is told. */
  async function next(cursor: string, query: Record<string, string> = {}) {
    for (;;) {
      const { status, body } = await listen({ cursor, waitSeconds: "5", ...query });
      expect(status, JSON.stringify(body)).toBe(200);
      if (body.data.length > 0 || body.missed) return body;
      cursor = body.cursor;
    }
  }

  it("begins now, tells what happens afterwards as a delivery does, and once", async () => {
    await happens("Before");
    const unnumbered = server.db.selectFrom("events").select("id").where("position", "is", null);
    while ((await unnumbered.execute()).length > 0) await numberEvents(server.services);
    const from = await now();
    await happens("Elsewhere", otherId);
    await happens("After");
    const { data, cursor, missed } = await next(from, { events: "site.*" });
    expect(data).toEqual([
      {
        id: expect.any(String),
        type: "site.created",
        timestamp: server.clock.now(),
        orgId,
        siteId: expect.any(String),
        data: expect.objectContaining({ siteName: "After" }),
      },
    ]);
    expect(missed).toBe(false);
    expect((await listen({ cursor })).body.data).toEqual([]);
    expect((await next(from)).data, "the same place again tells the same").toHaveLength(1);
  });

  it("passes over what is not asked for, so that it is never looked through again", async () => {
    const from = await now();
    await happens("Passed over");
    await next(from);
    const { body } = await listen({ cursor: from, events: "device.*" });
    expect(body.data).toEqual([]);
    expect((await listen({ cursor: body.cursor, events: "*" })).body.data).toEqual([]);
  });

  it("answers a waiting call as soon as something is told, and leaves it to the next to read", async () => {
    const cursor = await now();
    const began = performance.now();
    const waiting = listen({ cursor, waitSeconds: "20" });
    await happens("Awaited");
    const { body } = await waiting;
    expect(performance.now() - began).toBeLessThan(9_000);
    if (body.data.length === 0) expect((await listen({ cursor: body.cursor })).body.data).toHaveLength(1);
  });

  it("says that it has missed something once events are gone that it has not told", async () => {
    const cursor = await now();
    await happens("Too old");
    await next(cursor);
    await server.db.updateTable("eventCursors").set({ position: 1e9 }).where("consumer", "<>", "numbering").execute();
    server.clock.advance(8 * DAY);
    const token = (await server.signIn({ role: "Org Admin", orgId })).token;
    await purgeEvents(server.services);
    const gone = await listen({ cursor }, token);
    expect(gone.body).toMatchObject({ data: [], missed: true });
    expect((await listen({ cursor: gone.body.cursor }, token)).body.missed).toBe(false);
    admin = await server.signIn({ email: "again@b.example", role: "Org Admin", orgId });
  });

  it("a cursor works for the organization that was given it, and for no other text", async () => {
    const own = await server.signIn({ role: "Org Admin", orgId: otherId });
    const stranger = await seedPartner(server, "stranger", ["far"]);
    const theirs = await server.signIn({ role: "Partner Admin", partnerId: stranger.partnerId });
    const cursor = await now();
    const asked = (query: Record<string, string>, token: string) =>
      server.request("GET", `/webhooks/events?${new URLSearchParams(query)}`, { token });
    for (const answer of [
      await asked({ cursor }, own.token),
      await asked({ cursor, orgId: stranger.orgIds[0] as string }, theirs.token),
      await listen({ cursor: `${cursor.slice(0, -2)}AA` }),
      await listen({ cursor: "1" }),
    ])
      expect([answer.status, answer.body.code]).toEqual([400, "VALIDATION_ERROR"]);
    const foreign = await asked({ cursor, orgId }, theirs.token);
    expect([foreign.status, foreign.body.code]).toEqual([403, "ORG_ACCESS_DENIED"]);
  });

  it("is for who may make a webhook: not for readers, callers confined to sites, or without a second factor", async () => {
    const reader = await server.signIn({ role: "custom", permissions: ["organizations:read"], orgId });
    const confined = await server.signIn({ role: "Org Admin", orgId, siteIds: [server.services.random.uuid()] });
    const single = await server.signIn({ role: "Org Admin", orgId, mfa: false });
    for (const [{ token }, code] of [
      [reader, "PERMISSION_DENIED"],
      [confined, "SITE_ACCESS_DENIED"],
      [single, "MFA_REQUIRED"],
    ] as const) {
      const { status, body } = await listen({}, token);
      expect([status, body.code, body.data]).toEqual([403, code, undefined]);
    }
    const unknown = await listen({ events: "device.*,moon.landing" });
    expect([unknown.body.code, unknown.body.details]).toEqual(["UNKNOWN_EVENT", { unknown: ["moon.landing"] }]);
  });

  it("is answered when the server stops", async () => {
    const waiting = listen({ cursor: await now(), waitSeconds: "20" });
    await new Promise((resolve) => setTimeout(resolve, 50));
    server.services.store.signals.stopWaiting();
    expect((await waiting).status).toBe(200);
  });
});
