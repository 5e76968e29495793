import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { joinHooks, type RoomHooks } from "./room-hooks.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "./test/harness.ts";

describe("hooks of the rooms", () => {
  const event = { orgId: "o", now: "n" } as Parameters<ReturnType<typeof joinHooks>["onOrganizationCreated"]>[0];

  it("run one after the other in the order of the rooms, and their details are joined", async () => {
    const seen: string[] = [];
    const room = (name: string): RoomHooks => ({
      async onOrganizationCreated({ orgId }) {
        seen.push(`${name} begins ${orgId}`);
        await Promise.resolve();
        seen.push(`${name} ends`);
        return { [name]: 1 };
      },
    });
    const hooks = joinHooks([room("a"), {}, room("b")]);
    expect(await hooks.onOrganizationCreated(event)).toEqual({ a: 1, b: 1 });
    expect(seen).toEqual(["a begins o", "a ends", "b begins o", "b ends"]);
  });

  it("end with the first that fails", async () => {
    const late = vi.fn(async () => undefined);
    const failing: RoomHooks = {
      async onOrganizationCreated() {
        throw new Error("no");
      },
    };
    const hooks = joinHooks([failing, { onOrganizationCreated: late }]);
    await expect(hooks.onOrganizationCreated(event)).rejects.toThrow("no");
    expect(late).not.toHaveBeenCalled();
  });
});

describe.each(databases)("a closing tenant on %s", (database) => {
  let server: TestServer;
  let system: string;
  beforeAll(async () => {
    server = await startTestServer(database);
    system = (await server.signIn({ role: "System Admin" })).token;
  });
  afterAll(() => server?.stop());

  it.each([
    ["organization", "onOrganizationClosed"],
    ["partner", "onPartnerClosed"],
  ] as const)("keeps everything when a room refuses: %s", async (kind, name) => {
    const { partnerId, orgIds } = await seedPartner(server, `refused-${kind}`, [`refused-${kind}-org`]);
    const orgId = orgIds[0] as string;
    const staff = await server.signIn({ role: "Partner Admin", partnerId });
    const member = await server.signIn({ role: "Org Admin", orgId });
    const body = { orgId, name: "ci", scopes: [] };
    const key = (await server.request("POST", "/api-keys", { token: staff.token, body })).body as { id: string };
    const path = kind === "partner" ? `/orgs/partners/${partnerId}` : `/orgs/organizations/${orgId}`;
    const remove = () => server.request("DELETE", path, { token: kind === "partner" ? system : staff.token });
    const state = async () => ({
      gone: await server.db
        .selectFrom(kind === "partner" ? "partners" : "organizations")
        .select("deletedAt")
        .where("id", "=", kind === "partner" ? partnerId : orgId)
        .executeTakeFirstOrThrow(),
      key: await server.db.selectFrom("apiKeys").select("status").where("id", "=", key.id).executeTakeFirstOrThrow(),
      session: await server.db
        .selectFrom("sessions")
        .select("revokedAt")
        .where("id", "=", member.sessionId)
        .executeTakeFirstOrThrow(),
    });
    const { hooks } = server.services;
    const refusing = {
      ...hooks,
      async [name](event: never) {
        await hooks[name](event);
        throw new Error("this room cannot let go");
      },
    };
    Object.assign(server.services, { hooks: refusing });
    try {
      expect((await remove()).status).toBe(500);
      expect(await state()).toEqual({
        gone: { deletedAt: null },
        key: { status: "active" },
        session: { revokedAt: null },
      });
    } finally {
      Object.assign(server.services, { hooks });
    }
    expect((await remove()).status).toBe(200);
    expect(await state()).toMatchObject({ gone: { deletedAt: server.clock.now() }, key: { status: "revoked" } });
    expect((await state()).session.revokedAt).toBe(server.clock.now());
  });
});
