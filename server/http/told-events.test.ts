import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { staff } from "#contract/core/access";
import { post, resource } from "#contract/core/endpoint";
import { databases, type SignedInUser, seedPartner, send, startTestServer, type TestServer } from "../test/harness.ts";
import type { Call } from "./call.ts";
import { implement } from "./implement.ts";
import { httpApp } from "./router.ts";

const probes = resource(
  { name: "probes", summary: "Handlers that tell", audits: [] },
  {
    tell: post("/probes", {
      loses: "nothing",
      idempotent: true,
      summary: "Do what the test says",
      access: staff(),
      audit: { none: "a probe" },
      emits: ["site.created"],
      mayEmit: ["site.deleted"],
      returns: () => z.object({ ok: z.boolean() }),
    }),
  },
);

describe.each(databases)("events of a call on %s", (database) => {
  let server: TestServer;
  let probe: Server;
  let admin: SignedInUser;
  let orgId: string;
  let handle: (call: Call) => Promise<void>;

  beforeAll(async () => {
    server = await startTestServer(database);
    const { partnerId, orgIds } = await seedPartner(server, "acme", ["acme"]);
    orgId = orgIds[0] as string;
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    const tell = async (call: Call) => {
      await handle(call);
      return { ok: true };
    };
    probe = createServer(httpApp(server.services, implement(probes, { tell })));
    await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    probe?.close();
    await server?.stop();
  });
  beforeEach(() => server.db.deleteFrom("events").execute());

  const ask = (headers: Record<string, string> = {}) =>
    send(`http://127.0.0.1:${(probe.address() as AddressInfo).port}`, "POST", "/probes", {
      token: admin.token,
      headers,
    });
  const site = (siteName: string) => ({ orgId, data: { siteId: server.services.random.uuid(), siteName } });
  const told = async () =>
    (await server.db.selectFrom("events").selectAll().orderBy("seq").execute()).map(({ data }) => data["siteName"]);

  it("are told with the change, in the order in which they happened", async () => {
    handle = (call) =>
      call.transaction(async () => {
        call.emit("site.created", site("one"));
        await call.asSystem("queue work", async () => call.emit("site.deleted", site("two")));
      });
    expect((await ask()).status).toBe(200);
    expect(await told()).toEqual(["one", "two"]);
    const [event] = await server.db.selectFrom("events").selectAll().execute();
    expect(event).toMatchObject({ orgId, partnerId: null, kind: "site.created", occurredAt: server.clock.now() });
    expect(event?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  it("are told once, however often the answer is given again", async () => {
    handle = (call) => call.transaction(async () => call.emit("site.created", site("once")));
    const key = { "x-idempotency-key": `told-${database}` };
    expect((await ask(key)).headers.get("idempotency-replayed")).toBeNull();
    expect((await ask(key)).headers.get("idempotency-replayed")).toBe("true");
    expect(await told()).toEqual(["once"]);
  });

  it("fall with a transaction that fails, also where the handler goes on with another", async () => {
    handle = async (call) => {
      await call
        .transaction(async () => {
          call.emit("site.created", site("undone"));
          throw new Error("undone");
        })
        .catch(() => undefined);
      await call.transaction(async () => call.emit("site.created", site("done")));
    };
    expect((await ask()).status).toBe(200);
    expect(await told()).toEqual(["done"]);
  });

  it.each<[string, (call: Call) => void]>([
    [
      "of a kind that the endpoint does not declare",
      (call) => call.emit("site.updated", { ...site("x"), data: { ...site("x").data, changedFields: [] } }),
    ],
    [
      "with fields that the kind does not have",
      (call) => call.emit("site.created", { orgId, data: { ...site("x").data, secret: "s" } as never }),
    ],
    [
      "without what the kind must have",
      (call) => call.emit("site.created", { orgId, data: { siteName: "x" } as never }),
    ],
    ["of more than 16 KB", (call) => call.emit("site.created", site("x".repeat(16_384)))],
  ])("fail the call %s, and undo it", async (_, emit) => {
    handle = (call) =>
      call.transaction(async (tx) => {
        await tx.updateTable("organizations").set({ name: "changed" }).where("id", "=", orgId).execute();
        emit(call);
      });
    expect(await ask()).toMatchObject({ status: 500, body: { code: "INTERNAL_ERROR" } });
    expect(await told()).toEqual([]);
    const org = await server.db.selectFrom("organizations").select("name").where("id", "=", orgId).executeTakeFirst();
    expect(org?.name).not.toBe("changed");
  });

  it("are refused outside the transaction of the change", async () => {
    handle = async (call) => {
      await call.transaction(async () => undefined);
      call.emit("site.created", site("late"));
    };
    expect((await ask()).status).toBe(500);
    handle = (call) => call.asSystem("queue work", async () => call.emit("site.created", site("apart")));
    expect((await ask()).status).toBe(500);
    expect(await told()).toEqual([]);
  });
});
