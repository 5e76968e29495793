import { Worker } from "node:worker_threads";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { WAITING_MAX } from "#server/db/dialect/sqlite-threads";
import { makeDevices } from "../../../test/devices.ts";
import { type SignedInUser, seedPartner, startTestServer, type TestServer } from "../../../test/harness.ts";

describe("lists of a large embedded database, read in threads", () => {
  let server: TestServer;
  const tenants: { orgId: string; siteId: string; who: SignedInUser; hostnames: string[] }[] = [];

  beforeAll(async () => {
    server = await startTestServer("sqlite");
    // Large enough that reads go to threads.
    await sql`create table filler as select zeroblob(17000000) as content`.execute(server.db);
    for (const slug of ["acme", "other"]) {
      const { partnerId, orgIds } = await seedPartner(server, slug, [`${slug}-west`]);
      const orgId = orgIds[0] as string;
      const who = await server.signIn({ role: "Partner Admin", partnerId });
      const { body } = await server.request("POST", "/orgs/sites", { token: who.token, body: { orgId, name: "Main" } });
      const hostnames = [1, 2, 3].map((number) => `${slug}-${number}`);
      await makeDevices(
        server,
        hostnames.map((hostname) => ({ orgId, siteId: body.id, hostname })),
      );
      tenants.push({ orgId, siteId: body.id, who, hostnames });
    }
    // The size of the database is looked at now and then.
    const posted = vi.spyOn(Worker.prototype, "postMessage");
    const asked = async () => {
      await list(tenants[0]!);
      return posted.mock.calls.length;
    };
    await vi.waitUntil(async () => (await asked()) > 0, { timeout: 20_000 });
    posted.mockRestore();
  });
  afterAll(() => server?.stop());

  const list = ({ who }: (typeof tenants)[number], path = "/devices?sort=hostname&sortDir=asc") =>
    server.request("GET", path, { token: who.token });

  it("show two tenants that ask at once their own rows alone, or 503 with Retry-After", async () => {
    // Threads hear nothing until everybody has asked.
    const { postMessage } = Worker.prototype;
    const held: (() => void)[] = [];
    const holding = vi.spyOn(Worker.prototype, "postMessage").mockImplementation(function (this: Worker, message) {
      held.push(() => postMessage.call(this, message));
    });
    let refused = 0;
    const asking = Array.from({ length: WAITING_MAX + 50 }, async (_, index) => {
      const tenant = tenants[index % 2]!;
      const answer = await list(tenant);
      if (answer.status === 503) refused += 1;
      return { tenant, answer };
    });
    try {
      await expect.poll(() => refused, { timeout: 20_000 }).toBeGreaterThanOrEqual(48);
    } finally {
      holding.mockRestore();
      for (const post of held) post();
    }
    const asked = await Promise.all(asking);
    for (const { tenant, answer } of asked) {
      if (answer.status === 503) {
        expect([answer.body.code, answer.headers.get("retry-after")]).toEqual(["SERVICE_UNAVAILABLE", "1"]);
        continue;
      }
      const shown = answer.body.devices.map(({ hostname }: { hostname: string }) => hostname);
      expect([answer.status, shown]).toEqual([200, tenant.hostnames]);
    }
    const statuses = new Set(asked.map(({ answer }) => answer.status));
    expect(statuses).toEqual(new Set([200, 503]));
    // Nothing of it lasts.
    for (const tenant of tenants) expect((await list(tenant)).status).toBe(200);
  });

  it("show what was committed just before", async () => {
    const tenant = tenants[0]!;
    for (const name of ["Annex", "Depot", "Attic"]) {
      const body = { orgId: tenant.orgId, name };
      expect((await server.request("POST", "/orgs/sites", { token: tenant.who.token, body })).status).toBe(201);
      const { body: sites } = await list(tenant, `/orgs/sites?orgId=${tenant.orgId}`);
      expect(sites.data.at(-1).name).toBe(name);
    }
  });
});
