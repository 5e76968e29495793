import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Stub } from "#sdk/stub-server";
import { ids, stubApi } from "../test-api.ts";
import { testCommand } from "../test-shell.ts";

const command = testCommand();
let stub: Stub;
const groups = [
  { id: "66666666-6666-4666-8666-666666666666", orgId: ids.contoso, orgName: "Contoso Dental", name: "Servers" },
  { id: "77777777-7777-4777-8777-777777777777", orgId: ids.fabrikam, orgName: "Fabrikam", name: "Servers" },
];
beforeAll(async () => {
  stub = await stubApi({
    "GET /groups": (_seen, query) => {
      const data = groups.filter(({ orgId }) => orgId === (query.get("orgId") ?? orgId));
      return { body: { data, total: data.length } };
    },
  });
});
beforeEach(() => {
  stub.seen.length = 0;
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const explain = (where: string, ...more: string[]) =>
  command.run(["filters", "explain", "--where", where, ...more], {
    env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" },
  });
const valuesOf = async (where: string, ...more: string[]) => {
  const { stdout } = await explain(where, ...more, "--json");
  return (JSON.parse(stdout) as { conditions: { conditions: { value: unknown }[] } }).conditions.conditions.map(
    ({ value }) => value,
  );
};

it("puts ids in the place of names, and prints ids", async () => {
  expect(await valuesOf("orgId = 'contoso dental' and siteId in [HQ]", "--org", "contoso-dental")).toEqual([
    ids.contoso,
    [ids.hq],
  ]);
  expect(await valuesOf("groupId = Servers or groupId = servers", "--org", "fabrikam")).toEqual([
    groups[1]!.id,
    groups[1]!.id,
  ]);
  const { stdout } = await explain("orgId in [contoso-dental, twin]", "--json");
  expect((JSON.parse(stdout) as { where: string }).where).toBe(`orgId in [${ids.contoso}, ${ids.twin}]`);
});

it("asks for each list once, and for nothing where ids stand already", async () => {
  await explain(`orgId = ${ids.contoso} and hostname = Servers and siteId = ${ids.hq}`);
  expect(stub.seen).toEqual([]);
  await explain(`orgId in [${Array.from({ length: 20 }, () => "twin").join(", ")}] or orgId = fabrikam`);
  expect(stub.seen.filter(({ path }) => path.includes("/orgs"))).toHaveLength(1);
});

it("refuses a name that nobody or that several have, at its place, with those that it may mean", async () => {
  const unknown = await explain("status = online and orgId = contoso-dentl");
  expect([unknown.code, unknown.stdout]).toEqual([3, ""]);
  expect(unknown.stderr).toContain(`  status = online and orgId = contoso-dentl\n${" ".repeat(30)}^^^^^^^^^^^^^\n`);
  expect(unknown.stderr).toContain(
    "rmm: --where: There is no organization contoso-dentl (did you mean contoso-dental?)\n",
  );
  expect(unknown.stderr).not.toContain("Did you mean");
  const several = await explain("groupId in [Servers]");
  expect(several.code).toBe(2);
  for (const { id } of groups) expect(several.stderr).toContain(id);
  expect(several.stderr).toContain(`  groupId in [Servers]\n${" ".repeat(14)}^^^^^^^\n`);
});
