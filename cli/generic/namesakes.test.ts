import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { ids, paged, stubApi, writesOf } from "../test-api.ts";
import { testCommand } from "../test-shell.ts";

const command = testCommand();
const [OLD, NEW] = ["aaaaaaaa-1111-4111-8111-111111111111", "aaaaaaaa-2222-4222-8222-222222222222"];
const all = [
  { id: OLD, orgId: ids.contoso, name: "Annex", deviceCount: 3 },
  { id: NEW, orgId: ids.contoso, name: "annex", deviceCount: 0 },
  { id: ids.otherHq, orgId: ids.fabrikam, name: "Annex", deviceCount: 1 },
];
let sites = all;
let closed = false;
let stub: Stub;
beforeAll(async () => {
  stub = await stubApi({
    "GET /orgs/sites": (_seen, query) =>
      closed
        ? refusal(403, "PERMISSION_DENIED")
        : paged(
            sites.filter(({ orgId }) => query.get("orgId") === null || orgId === query.get("orgId")),
            query,
          ),
    "POST /orgs/sites": ({ body }) => ({ status: 201, body: { id: "made", ...(body as object) } }),
  });
});
beforeEach(() => {
  sites = all;
  closed = false;
  stub.seen.length = 0;
});
afterAll(async () => {
  await stub.close();
  command.close();
});
const run = (argv: readonly string[], stdin?: string) =>
  command.run(argv, {
    env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" },
    ...(stdin === undefined ? {} : { stdin }),
  });

it("a name that several sites have is refused with what tells them apart, and only with a flag that would", async () => {
  const within = await run(["devices", "list", "--org", "contoso-dental", "--site", "Annex"]);
  expect(within).toMatchObject({ code: 2, stdout: "" });
  expect(within.stderr).toContain(`${OLD}  Annex (contoso-dental)  3 devices`);
  expect(within.stderr).toContain(`${NEW}  annex (contoso-dental)  0 devices`);
  expect(within.stderr).toMatch(/Give its id instead, or rename one: `rmm sites update <id> --name <name>/);
  expect(within.stderr).not.toContain("or --org");
  const everywhere = await run(["devices", "list", "--site", "Annex"]);
  expect(everywhere.stderr).toContain("Give its id instead, or --org");
});

const create = ["sites", "create", "--org", "contoso-dental", "--timezone", "UTC"];

it("a second site of one name is made, and told with the first one and the flag that leaves it alone", async () => {
  sites = all.slice(0, 1);
  const ran = await run([...create, "--name", "ANNEX"]);
  expect([ran.code, writesOf(stub)]).toMatchObject([0, [{ body: { name: "ANNEX" } }]]);
  expect(ran.stderr).toContain(`Warning: another Annex was there already (${OLD}): --if-not-exists leaves it alone`);
  const list = await run([...create, "-f", "-", "--json"], '[{"name":"Annex"},{"name":"New"}]');
  expect(JSON.parse(list.stdout)).toMatchObject([
    { outcome: "done", note: expect.stringContaining(OLD) },
    { outcome: "done" },
  ]);
  expect(JSON.parse(list.stdout)[1].note).toBeUndefined();
  const elsewhere = ["sites", "create", "--org", "fabrikam", "--name", "Annex", "--timezone", "UTC"];
  expect((await run(elsewhere)).stderr).not.toContain("Warning");
  expect((await run([...create, "--name", "Annex", "--if-not-exists"])).stderr).not.toContain("Warning");
});

it("whoever may make sites and list none is not warned", async () => {
  closed = true;
  const ran = await run([...create, "--name", "Annex"]);
  expect([ran.code, ran.stderr.includes("Warning")]).toEqual([0, false]);
});
