import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDevices } from "../test/devices.ts";
import { makeSite } from "../test/enroll.ts";
import { databases, seedPartner, startTestServer, type TestServer } from "../test/harness.ts";
import { idsNamed, isLongEnough, isNamed, type NameField, type NamesOf, nameSearch } from "./dialect/device-names.ts";
import { preparedRows } from "./prepared.ts";
import type { Scope } from "./scope.ts";
import { UnitOfWork } from "./unit-of-work.ts";

const everything: readonly NameField[] = ["hostname", "displayName", "lastUser"];

const named = [
  { hostname: "PC_01_A", displayName: "100% sure", lastUser: "CORP\\Müller" },
  { hostname: "PCX01_A", displayName: null, lastUser: null },
  { hostname: "quote\"and'tick", displayName: "back\\slash AND OR NOT", lastUser: "-x-(y)*" },
  { hostname: "ÅNGSTRÖM", displayName: "東京都サーバ", lastUser: "🦀🦀🦀🦀" },
];

describe.each(databases)("names of devices on %s", (database) => {
  let server: TestServer;
  let mine: { partnerId: string; orgIds: string[] };
  let theirs: { partnerId: string; orgIds: string[] };
  let sites: string[];
  let ids: string[];
  let foreign: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    mine = await seedPartner(server, "mine", ["mine", "second"]);
    theirs = await seedPartner(server, "theirs", ["theirs"]);
    sites = await Promise.all([...mine.orgIds, ...theirs.orgIds].map((orgId) => makeSite(server, orgId)));
    const at = (index: number) => ({
      orgId: [...mine.orgIds, ...theirs.orgIds][index] as string,
      siteId: sites[index],
    });
    ids = await makeDevices(
      server,
      named.map((names) => ({ ...at(0), ...names })),
    );
    [foreign] = (await makeDevices(server, [{ ...at(2), hostname: "pc_01_a" }])) as [string];
  });
  afterAll(() => server?.stop());

  const partner = (partnerId: string): Scope => ({
    kind: "partner",
    partnerId,
    selected: null,
    userId: null,
    known: new Set(),
  });
  const org = (orgId: string): Scope => ({ kind: "organization", orgId, siteIds: null, userId: null });

  const found = preparedRows((db, { most, ...search }: ReturnType<typeof nameSearch> & { most: number }) =>
    db.selectNoFrom([idsNamed({ ...search, most }).as("ids")]),
  );
  const filtered = preparedRows((db, search: ReturnType<typeof nameSearch>) =>
    db
      .selectFrom("devices")
      .select("devices.id")
      .where((eb) => isNamed(eb.ref("devices.id"), search)),
  );

  /** What the index itself says to a connection of this scope, whatever it is asked for. */
  async function raw(scope: Scope, needle: string, of: NamesOf = scope, fields = everything, most = 100) {
    const [row] = await found(
      new UnitOfWork(server.services, scope).reader,
      { ...nameSearch(needle, of, fields), most },
      null,
    );
    return (JSON.parse(row?.ids as string) as string[]).sort();
  }
  async function search(scope: Scope, needle: string, fields = everything, of: NamesOf = scope) {
    const rows = await filtered(new UnitOfWork(server.services, scope).reader, nameSearch(needle, of, fields), null);
    return rows.map(({ id }) => id).sort();
  }
  const whole = () => partner(mine.partnerId);

  it("are found by any part of three characters, without case and literally (C13)", async () => {
    const [underscore, plain, quotes, scripts] = ids as [string, string, string, string];
    const cases: [string, string[]][] = [
      ["pc_01", [underscore]],
      ["01_a", [underscore, plain]],
      ["00%", [underscore]],
      ["00% S", [underscore]],
      ["p%a", []],
      ["___", []],
      ["%%%", []],
      ['e"a', [quotes]],
      ["d't", [quotes]],
      ["k\\s", [quotes]],
      ["h and or n", [quotes]],
      ["-x-", [quotes]],
      ["(y)*", [quotes]],
      ["mül", [underscore]],
      ["MÜLLER", [underscore]],
      ["ngström", [scripts]],
      ["京都サ", [scripts]],
      ["🦀🦀🦀", [scripts]],
      // Not over the end of a name into the next one.
      ["sure corp", []],
      ["_a100", []],
    ];
    for (const [needle, expected] of cases) {
      expect(isLongEnough(needle), needle).toBe(true);
      expect(await search(whole(), needle), needle).toEqual(expected.toSorted());
      expect(await raw(whole(), needle), needle).toEqual(expected.toSorted());
    }
    expect(["ab", "🦀🦀", "%_"].map(isLongEnough)).toEqual([false, false, false]);
  });

  it("are told apart by field", async () => {
    const [first] = ids as [string];
    expect(await search(whole(), "müller", ["lastUser"])).toEqual([first]);
    expect(await search(whole(), "müller", ["hostname", "displayName"])).toEqual([]);
  });

  it("of another tenant are found by no connection, even where the index is asked for all", async () => {
    const [first] = ids as [string];
    const all: Scope = { kind: "system" };
    expect(await search(all, "pc_01_a")).toEqual([first, foreign].toSorted());
    expect(await search(partner(theirs.partnerId), "pc_01_a")).toEqual([foreign]);
    expect(await search(org(theirs.orgIds[0] as string), "pc_01_a")).toEqual([foreign]);
    expect(await search(org(mine.orgIds[1] as string), "pc_01_a")).toEqual([]);
    expect(await search({ kind: "none" }, "pc_01_a")).toEqual([]);
    // The outer query narrows what a wrong index condition would find.
    expect(await search(whole(), "pc_01_a", everything, all)).toEqual([first]);
    expect(await search(whole(), "pc_01_a", everything, partner(theirs.partnerId))).toEqual([]);
    if (database === "postgres") {
      expect(await raw(whole(), "pc_01_a", all)).toEqual([first]);
      expect(await raw(whole(), "pc_01_a", partner(theirs.partnerId))).toEqual([]);
      expect(await raw({ kind: "none" }, "pc_01_a", all)).toEqual([]);
    }
  });

  it("follow the device when it is renamed, moved or deleted, and are as many as were asked for", async () => {
    const device = { orgId: mine.orgIds[0] as string, siteId: sites[0] as string };
    const [one, two] = (await makeDevices(server, [
      { ...device, hostname: "old-name" },
      { ...device, hostname: "name-old" },
    ])) as [string, string];
    expect(await raw(whole(), "old", whole(), everything, 1)).toHaveLength(1);
    await server.db
      .updateTable("devices")
      .set({ hostname: "new-name", lastUser: "ada" })
      .where("id", "=", one)
      .execute();
    expect(await search(whole(), "old")).toEqual([two]);
    expect(await search(whole(), "ADA")).toEqual([one]);
    await server.db.updateTable("devices").set({ lastUser: null, status: "offline" }).where("id", "=", one).execute();
    expect(await search(whole(), "ada")).toEqual([]);
    await server.db
      .updateTable("devices")
      .set({ orgId: mine.orgIds[1] as string, siteId: sites[1] as string })
      .where("id", "=", one)
      .execute();
    expect(await search(org(mine.orgIds[0] as string), "new-name")).toEqual([]);
    expect(await search(org(mine.orgIds[1] as string), "new-name")).toEqual([one]);
    await server.db.deleteFrom("devices").where("id", "in", [one, two]).execute();
    expect(await raw({ kind: "system" }, "new-name")).toEqual([]);
    expect(await search(whole(), "name-old")).toEqual([]);
  });
});
