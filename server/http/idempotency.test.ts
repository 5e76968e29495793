import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seedWorld, type World } from "#fixtures/world";
import { DAY, MINUTE } from "#server/platform/clock";
import { databases, type SignedInUser, startTestServer, type TestServer } from "../test/harness.ts";
import { beginIdempotent, type IdempotentRequest } from "./idempotency.ts";

describe.each(databases)("idempotency on %s", (database) => {
  let server: TestServer;
  let world: World;
  let user: SignedInUser;

  beforeAll(async () => {
    server = await startTestServer(database);
    world = await seedWorld(server.db, server.services);
    user = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
  });
  afterAll(() => server?.stop());

  const mint = (key: string, name = "rollout", who = user) =>
    server.request("POST", "/enrollment-keys", {
      token: who.token,
      body: { orgId: world.a.orgId, name },
      headers: { "x-idempotency-key": key },
    });
  const keysNamed = (name: string) =>
    server.db.selectFrom("enrollmentKeys").select("id").where("name", "=", name).execute();

  it("gives one key and the same secret for a request sent again, and stores neither secret nor client key readably", async () => {
    const first = await mint("mint-once-0001", "once");
    const again = await mint("mint-once-0001", "once");
    expect(first.status).toBe(201);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(await keysNamed("once")).toHaveLength(1);
    const stored = JSON.stringify(await server.db.selectFrom("idempotencyKeys").selectAll().execute());
    expect(stored).not.toContain(first.body.key);
    expect(stored).not.toContain("mint-once-0001");
  });

  it("refuses the key for another body, and keeps callers apart", async () => {
    await mint("mint-twice-001", "first");
    const reused = await mint("mint-twice-001", "second");
    expect([reused.status, reused.body.code]).toEqual([409, "IDEMPOTENCY_KEY_REUSED"]);
    const other = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
    expect((await mint("mint-twice-001", "third", other)).status).toBe(201);
  });

  it("takes every spelling of a path for the same request", async () => {
    const { body } = await mint("mint-paths-001", "spelled");
    const spellings = [
      body.id,
      body.id.toUpperCase(),
      `${body.id.slice(0, -1)}%${body.id.charCodeAt(35).toString(16)}`,
    ];
    const paths = spellings.flatMap((id) => [`/enrollment-keys/${id}/rotate`, `/enrollment-keys/${id}/rotate/`]);
    const secrets = new Set<string>();
    for (const path of paths) {
      const headers = { "x-idempotency-key": "rotate-paths-1" };
      secrets.add((await server.request("POST", path, { token: user.token, body: {}, headers })).body.key);
    }
    expect([...secrets]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
    expect(secrets).not.toContain(body.key);
  });

  it("lets one of ten simultaneous requests through and tells the others to wait", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => mint("mint-ten-00001", "ten")));
    expect(await keysNamed("ten")).toHaveLength(1);
    const created = answers.filter((answer) => answer.status === 201);
    expect(new Set(created.map((answer) => answer.body.key)).size).toBe(1);
    for (const waiting of answers.filter((answer) => answer.status !== 201)) {
      expect([waiting.status, waiting.body.code, waiting.headers.get("retry-after")]).toEqual([
        409,
        "IDEMPOTENCY_IN_FLIGHT",
        "1",
      ]);
    }
  });

  it("refuses keys that are too short, too long or not printable", async () => {
    for (const key of ["short", "x".repeat(129), "tab\tinside it"]) {
      expect((await mint(key)).status, key).toBe(400);
    }
  });

  it("frees the key when the request was refused, and forgets it after a day", async () => {
    const refused = await server.request("POST", "/enrollment-keys", {
      token: user.token,
      body: { orgId: world.b.orgId, name: "foreign" },
      headers: { "x-idempotency-key": "mint-freed-001" },
    });
    expect(refused.status).toBe(403);
    expect((await mint("mint-freed-001", "freed")).status).toBe(201);
    server.clock.advance(DAY + MINUTE);
    const fresh = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
    expect((await mint("mint-freed-001", "freed", fresh)).status).toBe(201);
  });

  it("gives a caller who lost access the refusal, not the remembered secret, and changes nothing", async () => {
    const guest = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
    const first = await mint("mint-lost-0001", "lost", guest);
    expect(first.status).toBe(201);
    const membership = server.db.updateTable("partnerUsers").where("userId", "=", guest.userId);
    await membership.set({ orgAccess: "none" }).execute();
    const again = await mint("mint-lost-0001", "lost", guest);
    expect([again.status, again.body.code]).toEqual([403, "ORG_ACCESS_DENIED"]);
    expect(JSON.stringify(again.body)).not.toContain(first.body.key);
    await membership.set({ orgAccess: "all" }).execute();
    expect((await mint("mint-lost-0001", "lost", guest)).body).toEqual(first.body);
    expect(await keysNamed("lost")).toHaveLength(1);
  });

  it("remembers nothing of a person for a session in another tenant", async () => {
    const person = await server.signIn({ role: "Partner Admin", partnerId: world.a.partnerId });
    const first = await mint("mint-home-0001", "home", person);
    const other = await server.signIn({ role: "Partner Admin", partnerId: world.b.partnerId });
    for (const table of ["partnerUsers", "sessions"] as const)
      await server.db
        .updateTable(table)
        .set({ userId: person.userId } as never)
        .where("userId", "=", other.userId)
        .execute();
    const claims = JSON.parse(Buffer.from(other.token.split(".")[1] as string, "base64url").toString());
    const token = server.services.accessTokens.sign({ ...claims, sub: person.userId });
    const elsewhere = await mint("mint-home-0001", "home", { ...person, token });
    expect([elsewhere.status, elsewhere.body.code]).toEqual([403, "ORG_ACCESS_DENIED"]);
    expect(JSON.stringify(elsewhere.body)).not.toContain(first.body.key);
    expect(await keysNamed("home")).toHaveLength(1);
  });

  it("takes over at once from a run whose process is gone, and not from one that is alive", async () => {
    const request: IdempotentRequest = {
      caller: "user:y",
      method: "POST",
      path: "/enrollment-keys",
      key: "mint-gone-0001",
      body: {},
      secret: false,
    };
    const processId = server.services.random.uuid();
    const lease = { name: `process ${processId}`, holder: processId };
    await server.db
      .insertInto("leases")
      .values({ ...lease, expiresAt: new Date(server.clock.nowMs() + MINUTE).toISOString() })
      .execute();
    await beginIdempotent({ ...server.services, processId }, request);
    await expect(beginIdempotent(server.services, request)).rejects.toMatchObject({ code: "IDEMPOTENCY_IN_FLIGHT" });
    await server.db.deleteFrom("leases").where("name", "=", lease.name).execute();
    expect(await beginIdempotent(server.services, request)).toHaveProperty("finish");
  });

  it("takes over from a run that hung, also for another body, and rolls back the one that only hung", async () => {
    const request = (body: object): IdempotentRequest => ({
      caller: "user:x",
      method: "POST",
      path: "/api/v1/enrollment-keys",
      key: "mint-hung-0001",
      body,
      secret: false,
    });
    const dead = await beginIdempotent(server.services, request({ name: "a" }));
    await expect(beginIdempotent(server.services, request({ name: "a" }))).rejects.toMatchObject({
      code: "IDEMPOTENCY_IN_FLIGHT",
    });
    server.clock.advance(2 * MINUTE);
    const next = await beginIdempotent(server.services, request({ name: "b" }));
    if (!("finish" in dead) || !("finish" in next)) throw new Error("expected two runs");
    const finish = (run: typeof next) =>
      server.db.transaction().execute((tx) => run.finish(tx, { status: 201, body: { ok: true } }));
    await expect(finish(dead)).rejects.toMatchObject({ code: "IDEMPOTENCY_IN_FLIGHT" });
    await finish(next);
    expect(await beginIdempotent(server.services, request({ name: "b" }))).toEqual({ status: 201, body: { ok: true } });
  });
});
