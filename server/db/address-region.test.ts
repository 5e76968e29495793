import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { databases, seedPartner, startTestServer, type TestServer } from "../test/harness.ts";
import { migration } from "./migrations/202611281240-tenancy-address-region.ts";

const OLD = "2025-01-02T03:04:05.678Z";

/** What was stored, and what it has to become; undefined where nothing may change. */
const rows: [stored: object | null, becomes: object | undefined][] = [
  [
    { line1: "1 Main St", state: "CO", country: "US" },
    { line1: "1 Main St", country: "US", region: "CO" },
  ],
  [{ state: "CO", region: "CO" }, { region: "CO" }],
  [{ state: "CO", region: "" }, { region: "CO" }],
  [{ state: "CO", region: null }, { region: "CO" }],
  [{ state: "", region: "CO" }, { region: "CO" }],
  [
    { state: "CO", region: "Rockies" },
    { region: "Rockies", otherRegion: "CO" },
  ],
  [{ state: null }, { region: null }],
  [
    { state: { code: "CO", n: 1.5, yes: true, list: [1, "x"] } },
    { region: { code: "CO", n: 1.5, yes: true, list: [1, "x"] } },
  ],
  [{ state: true }, { region: true }],
  [{ state: 12 }, { region: 12 }],
  [{ state: 'a "quoted" — ß' }, { region: 'a "quoted" — ß' }],
  [{ region: "CO", inner: { state: "kept" } }, undefined],
  [{ line1: "state" }, undefined],
  [{}, undefined],
  [null, undefined],
];

describe.each(databases)("stored addresses on %s", (database) => {
  let server: TestServer;
  let orgId: string;
  beforeAll(async () => {
    server = await startTestServer(database);
    orgId = (await seedPartner(server, "acme", ["acme"])).orgIds[0] as string;
  });
  afterAll(() => server?.stop());

  it("have their region under region alone, lose nothing, and count as changed where they changed", async () => {
    const { random, store } = server.services;
    const sites = rows.map(([stored, becomes]) => ({ id: random.uuid(), stored, becomes }));
    for (const { id, stored } of sites) {
      const fields = { id, orgId, name: id, timezone: "UTC", contact: null, settings: {} };
      await server.db
        .insertInto("sites")
        .values({ ...fields, address: stored as never, createdAt: OLD, updatedAt: OLD })
        .execute();
    }
    for (const again of [false, true]) {
      if (again) await server.db.updateTable("sites").set({ updatedAt: OLD }).execute();
      for (const statement of migration.statements(store.dialect))
        await sql.raw(statement).execute(store.connection("system"));
      for (const { id, stored, becomes } of sites) {
        const site = await server.db.selectFrom("sites").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
        expect(site.address, JSON.stringify(stored)).toEqual(becomes ?? stored);
        expect(site.updatedAt > OLD, JSON.stringify(stored)).toBe(becomes !== undefined && !again);
        expect(site.updatedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      }
    }
  });
});
