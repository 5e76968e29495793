import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { ids, paged, stubApi, writesOf } from "../../test-api.ts";
import { type RunOptions, testCommand } from "../../test-shell.ts";

const command = testCommand();
let stub: Stub;
const GROUP = "66666666-6666-4666-8666-666666666666";
const STATIC = "77777777-7777-4777-8777-777777777777";
const idOf = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
const stored = { operator: "AND", conditions: [{ field: "osType", operator: "equals", value: "linux" }] };
const groups = [
  { id: GROUP, orgId: ids.contoso, siteId: null, name: "Tills", type: "dynamic", filterConditions: stored },
  { id: STATIC, orgId: ids.contoso, siteId: null, name: "Desks", type: "static", filterConditions: null },
];
const device = (at: number) => ({
  ...{ id: idOf(at), orgId: ids.contoso, siteId: ids.hq, hostname: `till-${at}`, displayName: null },
  ...{ status: "online", osType: "windows", orgName: "Contoso Dental" },
});
const member = (at: number, isPinned = false) => ({
  ...{ deviceId: idOf(at), hostname: `till-${at}`, displayName: null, status: "online", osType: "windows" },
  ...{ isPinned, addedAt: "2026-03-01T09:00:00.000Z", addedBy: "dynamic_rule" },
});
/** Who matches, and who is in the group: by number. */
let matching: number[];
let members: ReturnType<typeof member>[];

beforeAll(async () => {
  stub = await stubApi({
    "GET /groups": () => ({ body: { data: groups, total: 2 } }),
    [`GET /groups/${GROUP}`]: () => ({ body: groups[0] }),
    [`GET /groups/${STATIC}`]: () => ({ body: groups[1] }),
    [`GET /groups/${GROUP}/devices`]: (_seen, query) => paged(members, query),
    "POST /devices/query": ({ body }) => {
      const { cursor = "0", limit } = body as { cursor?: string; limit: number };
      const from = Number(cursor);
      const next = from + limit < matching.length ? String(from + limit) : null;
      return { body: { devices: matching.slice(from, from + limit).map(device), nextCursor: next, limit } };
    },
    [`POST /groups/${STATIC}/preview`]: () => refusal(400, "NOT_DYNAMIC"),
    [`PATCH /groups/${GROUP}`]: ({ body }) => ({ body: { ...groups[0], ...(body as object) } }),
    "POST /groups": ({ body }) => ({ status: 201, body: { id: GROUP, ...(body as object) } }),
  });
});
beforeEach(() => {
  stub.seen.length = 0;
  matching = [1, 2, 3, 4];
  members = [member(3), member(4), member(8, true), member(9)];
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const run = (argv: readonly string[], options: RunOptions = {}) =>
  command.run(["groups", ...argv], { env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" }, ...options });
const queried = () => stub.seen.filter(({ path }) => path.includes("/devices/query")).map(({ body }) => body);
const changes = () => writesOf(stub).filter(({ path }) => !path.includes("/devices/query"));
const where = "hostname starts with till";
const condition = { field: "hostname", operator: "startsWith", value: "till" };
const ofGroup = { field: "orgId", operator: "equals", value: ids.contoso };
const told = "Tills: 2 devices join (till-1, till-2), 1 leaves (till-9), 3 stay, 1 of them pinned";

describe("rmm groups preview", () => {
  it("tells who joins and who leaves; who is pinned stays; nothing is changed", async () => {
    const ran = await run(["preview", "Tills", "--where", where, "--columns", "change,hostname"]);
    expect([ran.code, ran.stdout]).toEqual([0, "joins\ttill-1\njoins\ttill-2\nleaves\ttill-9\n"]);
    expect(ran.stderr).toContain(told);
    expect(queried()).toMatchObject([{ conditions: { operator: "AND", conditions: [condition, ofGroup] } }]);
    expect(changes()).toEqual([]);
  });

  it("tries the group's own conditions without an expression, within its organization", async () => {
    await run(["preview", GROUP]);
    expect(queried()).toMatchObject([{ conditions: { conditions: [...stored.conditions, ofGroup] } }]);
  });

  it("reads all of a large group, whatever is shown of it", async () => {
    matching = Array.from({ length: 1_200 }, (_, at) => at);
    members = Array.from({ length: 250 }, (_, at) => member(at + 1_100));
    const ran = await run(["preview", "Tills", "--where", where]);
    expect(ran.stdout.trim().split("\n")).toHaveLength(50);
    expect(ran.stderr).toContain("1100 devices join (till-0, till-1, till-2, till-3, till-4, …), 150 leave (");
    expect(ran.stderr).toContain("50 of 1,250; use --all");
    const { stdout } = await run(["preview", "Tills", "--where", where, "--json"]);
    const { data } = JSON.parse(stdout) as { data: { joins: unknown[]; leaves: unknown[]; stays: number } };
    expect([data.joins.length, data.leaves.length, data.stays]).toEqual([1_100, 150, 100]);
  });

  it("tells who leaves by name, whoever joined the group last", async () => {
    members = [member(9), member(7), member(8)];
    const ran = await run(["preview", "Tills", "--where", where, "--columns", "change,hostname"]);
    expect(ran.stdout).toMatch(/leaves\ttill-7\nleaves\ttill-8\nleaves\ttill-9\n$/);
    expect(ran.stderr).toContain("3 leave (till-7, till-8, till-9)");
  });

  it("is of dynamic groups alone", async () => {
    const ran = await run(["preview", "Desks"]);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([1, "", expect.stringContaining("NOT_DYNAMIC")]);
    expect(queried()).toEqual([]);
  });
});

describe("rmm groups update --where", () => {
  it("shows who joins and who leaves before it asks, and changes nothing after a no", async () => {
    const asked: string[] = [];
    const ran = await run(["update", "Tills", "--where", where], { tty: true, answers: ["no"], asked });
    expect([ran.code, changes()]).toEqual([2, []]);
    expect(ran.stderr).toContain(told);
    expect(asked[0]).toContain("Change the group Tills");
  });

  it("needs --yes where nobody can be asked, and says what it would do", async () => {
    const ran = await run(["update", "Tills", "--where", where]);
    expect([ran.code, changes()]).toEqual([2, []]);
    expect(ran.stderr).toContain("Missing: --yes");
    expect(ran.stderr).toContain(told);
  });

  it("sends the conditions that were shown", async () => {
    const ran = await run(["update", "Tills", "--where", where, "--name", "Old tills", "--yes"]);
    expect(ran.code, ran.stderr).toBe(0);
    expect(changes().map(({ body }) => body)).toEqual([
      { name: "Old tills", filterConditions: { operator: "AND", conditions: [condition] } },
    ]);
  });

  it("tells who would be in it with another site, which pinned devices of other sites leave too", async () => {
    const ran = await run(["update", "Tills", "--where", where, "--site-id", "HQ", "--yes"]);
    expect(ran.code, ran.stderr).toBe(0);
    const ofSite = { field: "siteId", operator: "equals", value: ids.hq };
    expect(queried()).toMatchObject([
      { conditions: { conditions: [condition, ofGroup, ofSite] } },
      { conditions: { conditions: [{ field: "groupId", operator: "equals", value: GROUP }, ofSite] } },
    ]);
    // Of the pinned till-8 the server says that it stands elsewhere.
    expect(ran.stderr).toContain("Tills: 2 devices join (till-1, till-2), 2 leave (till-8, till-9), 2 stay\n");
    expect(changes()[0]?.body).toMatchObject({ siteId: ids.hq });
    stub.seen.length = 0;
    await run(["update", "Tills", "--where", where, "--clear", "site-id", "--yes"]);
    expect(queried()).toMatchObject([{ conditions: { conditions: [condition, ofGroup] } }]);
  });

  it("asks nothing where conditions stay as they are", async () => {
    const ran = await run(["update", "Tills", "--name", "Old tills"]);
    expect([ran.code, queried()]).toEqual([0, []]);
    expect(changes()).toHaveLength(1);
  });
});

it("rmm groups create --where makes a dynamic group", async () => {
  const ran = await run(["create", "--org", "contoso-dental", "--name", "Tills", "--where", where]);
  expect(ran.code, ran.stderr).toBe(0);
  expect(changes()[0]?.body).toMatchObject({
    ...{ type: "dynamic", name: "Tills", orgId: ids.contoso },
    filterConditions: { operator: "AND", conditions: [condition] },
  });
});

it("rmm groups get shows its filter as an expression", async () => {
  const plain = { tty: true, env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana", NO_COLOR: "1" } };
  const { stdout } = await run(["get", GROUP], plain);
  expect(stdout).toMatch(/^WHERE +osType = linux$/m);
  expect((await run(["get", STATIC], plain)).stdout).toMatch(/^NOT SET .*filterConditions/m);
});

it("rmm groups members lists who is in a group, as devices does", async () => {
  const listed = await Promise.all(["members", "devices"].map((name) => run([name, "Tills"])));
  expect(listed.map(({ code }) => code)).toEqual([0, 0]);
  expect(listed[0]!.stdout).toContain("till-9");
  expect(listed[0]!.stdout).toBe(listed[1]!.stdout);
  expect((await run(["--help"])).stdout).toContain("Who is in a group: rmm device-groups devices <group>");
});
