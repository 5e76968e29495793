import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { ids, stubApi, writesOf } from "../test-api.ts";
import { testCommand } from "../test-shell.ts";

const command = testCommand();
let stub: Stub;
const GROUP = "66666666-6666-4666-8666-666666666666";
beforeAll(async () => {
  stub = await stubApi({
    "GET /custom-fields": () => ({ body: { data: [{ fieldKey: "contract", type: "text" }], pagination: PAGE } }),
    "POST /groups": ({ body }) => {
      const text = JSON.stringify(body);
      if (text.includes("greaterThan")) return refused;
      return { status: 201, body: { id: GROUP, ...(body as object) } };
    },
    "POST /filters": ({ body }) => ({ status: 201, body: { id: GROUP, ...(body as object) } }),
    "POST /devices/query": () => refused,
  });
});
beforeEach(() => {
  stub.seen.length = 0;
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const PAGE = { page: 1, limit: 100, total: 1 };
const WRONG = "osType = linux or (status = online and custom.contract > 3)";
const code = "FILTER_OPERATOR_NOT_ALLOWED";
const message = "custom.contract does not take greaterThan; it takes equals, notEquals, startsWith, isNull";
const refused = refusal(400, code, { details: { errors: [{ path: "conditions[1].conditions[1]", code, message }] } });
const env = () => ({ RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" });
async function create(noun: string, name: string, text: string, ...more: string[]) {
  const file = join(command.dir, name);
  await writeFile(file, text);
  return command.run([noun, "create", "-f", file, ...more], { env: env() });
}
const bodies = () => writesOf(stub).map(({ body }) => body);
const is = (field: string, value: string) => ({ field, operator: "equals", value });

describe("an expression in a file", () => {
  it("is sent as its conditions, and makes a group dynamic as the flag does", async () => {
    const ran = await create("groups", "groups.yaml", "name: Kiosks\nwhere: osType = linux and tags any [prod]\n");
    expect(ran.code, ran.stderr).toBe(0);
    const any = { field: "tags", operator: "hasAny", value: ["prod"] };
    expect(bodies()).toEqual([
      {
        name: "Kiosks",
        type: "dynamic",
        filterConditions: { operator: "AND", conditions: [is("osType", "linux"), any] },
      },
    ]);
  });

  it("is a column of CSV, and an empty cell has none", async () => {
    const csv = "name,type,org,where\nLinux,,contoso-dental,osType = linux\nDesks,static,contoso-dental,\n";
    const ran = await create("groups", "groups.csv", csv);
    expect(ran.code, ran.stderr).toBe(0);
    expect(bodies()).toEqual([
      expect.objectContaining({
        type: "dynamic",
        filterConditions: { operator: "AND", conditions: [is("osType", "linux")] },
      }),
      { orgId: ids.contoso, name: "Desks", type: "static" },
    ]);
  });

  it("names organizations and sites, which are looked up in the organization of the entry", async () => {
    const entries = [{ name: "One", org: "contoso-dental", where: "orgId = contoso-dental and siteId = HQ" }];
    const ran = await create("filters", "filters.json", JSON.stringify(entries));
    expect(ran.code, ran.stderr).toBe(0);
    const conditions = { operator: "AND", conditions: [is("orgId", ids.contoso), is("siteId", ids.hq)] };
    expect(bodies()).toMatchObject([{ orgId: ids.contoso, conditions }]);
  });

  it("that is wrong fails by itself, with file, line and character", async () => {
    const yaml =
      "- name: A\n  where: osType = linx\n- name: B\n  where: osType = linux\n- name: C\n  where: orgId = contoso-dentl\n";
    const ran = await create("groups", "groups.yaml", yaml);
    expect(ran.code).toBe(9);
    expect(ran.stdout).toContain("groups.yaml:2, where, character 10: ");
    expect(ran.stdout).toContain("(did you mean linux?)");
    const organization = "There is no organization contoso-dentl (did you mean contoso-dental?)";
    expect(ran.stdout).toContain(`groups.yaml:6, where, character 9: ${organization}`);
    expect(ran.stdout.split("There is no organization")).toHaveLength(2);
    expect(bodies()).toMatchObject([{ name: "B" }]);
  });

  it("of one entry has carets below it", async () => {
    const ran = await create("groups", "group.yaml", "name: A\nwhere: osType = linx\n");
    expect([ran.code, bodies()]).toEqual([2, []]);
    expect(ran.stderr).toContain("group.yaml:2, where, character 10: ");
    expect(ran.stderr).toContain(`  osType = linx\n${" ".repeat(11)}^^^^\n`);
  });

  it("does not stand beside conditions, and is text", async () => {
    const filterConditions = { operator: "AND", conditions: [is("osType", "linux")] };
    const both = await create(
      "groups",
      "a.json",
      JSON.stringify({ name: "A", where: "osType = linux", filterConditions }),
    );
    expect([both.code, bodies()]).toEqual([2, []]);
    expect(both.stderr).toContain("a.json:1, where: give it or filterConditions, not both");
    const json = JSON.stringify({ name: "A", where: filterConditions });
    expect((await create("groups", "a.json", json)).stderr).toContain("a.json:1, where must be an expression");
    const flag = ["--filter-conditions", JSON.stringify(filterConditions)];
    const beside = await create("groups", "a.json", JSON.stringify({ name: "A", where: "osType = linux" }), ...flag);
    expect(beside.stderr).toContain("not both");
  });

  it("is pointed into where the server refuses it", async () => {
    const one = await create("groups", "a.json", JSON.stringify({ name: "A", where: WRONG }));
    expect(one.stderr).toContain(`a.json:1, where, character ${WRONG.indexOf(">") + 1}: custom.contract takes no >\n`);
    const many = await create("groups", "a.json", JSON.stringify([{ name: "A", where: WRONG }]));
    expect(many.stdout).toContain(`a.json:1, where, character ${WRONG.indexOf(">") + 1}: custom.contract takes no >`);
  });
});

it("what the server finds wrong with an operator is said as expressions are written, at its place", async () => {
  const ran = await command.run(["devices", "list", "--where", WRONG], { env: env() });
  expect([ran.code, ran.stdout]).toEqual([2, ""]);
  expect(ran.stderr).toContain("rmm: --where: custom.contract takes no >\n");
  expect(ran.stderr).toContain(`  ${WRONG}
  ${" ".repeat(WRONG.indexOf(">"))}^
`);
  expect(ran.stderr).toContain("  custom.contract takes =, !=, starts with, is null\n");
});
