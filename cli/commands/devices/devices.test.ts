import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Stub } from "#sdk/stub-server";
import { ids, paged, stubApi, writesOf } from "../../test-api.ts";
import { testCommand } from "../../test-shell.ts";

const PC = "66666666-6666-4666-8666-666666666666";
const TWIN = "77777777-7777-4777-8777-777777777777";
const command = testCommand();
let stub: Stub;
const place = { orgName: "Contoso Dental", siteName: "HQ", status: "online", displayName: null };
const devices = [
  { ...place, id: PC, orgId: ids.contoso, hostname: "till-1", customFields: { rack: 4, owner: "Ana" } },
  { ...place, id: TWIN, orgId: ids.contoso, hostname: "pc-2", customFields: {} },
  { ...place, id: ids.twin, orgId: ids.twin, orgName: "Twins", hostname: "pc-2", customFields: {} },
];
const open = { pending: 2, sent: 1 };

beforeAll(async () => {
  stub = await stubApi({
    "GET /devices": (_seen, query) => {
      const org = query.get("orgId");
      const found = devices.filter(
        ({ hostname, orgId }) => hostname === query.get("search") && (!org || org === orgId),
      );
      return { body: { devices: found, nextCursor: null, limit: 100 } };
    },
    [`GET /devices/${PC}`]: () => ({ body: devices[0] }),
    [`GET /devices/${PC}/commands`]: (_seen, query) => {
      const count = open[query.get("status") as "sent"] ?? 31;
      return paged(
        Array.from({ length: count }, (_, at) => ({ id: String(at) })),
        query,
      );
    },
    "GET /custom-fields": (_seen, query) => paged([{ fieldKey: "rack" }], query),
    [`POST /devices/${PC}/move-org`]: () => ({ body: { success: true, device: devices[0] } }),
    [`DELETE /devices/${PC}`]: () => ({ body: { success: true } }),
  });
});
beforeEach(() => {
  stub.seen.length = 0;
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const env = () => ({ RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" });

it("a device is moved by names; --org is where it goes, and it is looked for everywhere", async () => {
  const ran = await command.run(["devices", "move", "till-1", "--org", "fabrikam", "--site", "HQ", "--yes"], {
    env: env(),
  });
  expect(ran.code, ran.stderr).toBe(0);
  expect(writesOf(stub).map(({ path, body }) => [path, body])).toEqual([
    [`/api/v1/devices/${PC}/move-org`, { orgId: ids.fabrikam, siteId: ids.otherHq }],
  ]);
});

it("before a move it says what stays behind, with server, customer and names, and a no moves nothing", async () => {
  const asked: string[] = [];
  const ran = await command.run(["devices", "move", "till-1", "--org", "fabrikam", "--site", "HQ"], {
    env: env(),
    tty: true,
    answers: ["no"],
    asked,
  });
  expect(ran.code).toBe(2);
  expect(asked).toEqual([
    expect.stringMatching(/till-1 \(66666666.*\) of Contoso Dental at http.* \(profile default\)\?/),
  ]);
  expect(ran.stderr.replaceAll(/\s+/g, " ")).toContain("till-1 moves from Contoso Dental / HQ to Twins");
  for (const line of ["31 commands of its history", "cancelled: 2 commands", "without an answer: 1 command", ": owner"])
    expect(ran.stderr).toContain(line);
  expect(writesOf(stub)).toEqual([]);
});

it("a name in several customers is refused with the candidates before a move", async () => {
  const ran = await command.run(["devices", "move", "pc-2", "--org", "fabrikam", "--site", "HQ", "--yes"], {
    env: env(),
  });
  expect([ran.code, ran.stdout]).toEqual([2, ""]);
  for (const part of [TWIN, ids.twin, "Contoso Dental", "Twins"]) expect(ran.stderr).toContain(part);
  expect(writesOf(stub)).toEqual([]);
});

it("show, decommission and commands are other words for get, remove and device-commands", async () => {
  const shown = await command.run(["devices", "show", "till-1", "--json"], { env: env() });
  expect(JSON.parse(shown.stdout)).toMatchObject({ id: PC });
  const listed = await command.run(["commands", "list", "till-1", "--json"], { env: env() });
  expect(JSON.parse(listed.stdout)).toHaveLength(31);
  const gone = await command.run(["devices", "decommission", "till-1", "--uninstall", "--yes"], { env: env() });
  expect(gone.code, gone.stderr).toBe(0);
  expect(writesOf(stub).map(({ method, path }) => `${method} ${path}`)).toEqual([
    `DELETE /api/v1/devices/${PC}?uninstall=true`,
  ]);
});

it("set says which word is no flag's value, and how it is given", async () => {
  const one = await command.run(["devices", "set", "till-1", "contract=gold"], { env: env() });
  expect([one.code, one.stdout]).toEqual([2, ""]);
  expect(one.stderr).toBe(
    "rmm: Nothing to change: contract=gold is no flag's value: it is taken for a device\n  Give --field contract=gold\n",
  );
  const two = await command.run(["devices", "set", "till-1", "owner=Ana Lima", "a=1"], { env: env() });
  expect(two.stderr).toContain("Give --field 'owner=Ana Lima' --field a=1\n");
  expect((await command.run(["devices", "set", "till-1"], { env: env() })).stderr).toContain("--field key=value");
});
