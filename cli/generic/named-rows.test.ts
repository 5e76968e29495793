import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { RefName } from "#contract/core/generated/refs";
import { refusal, type Stub } from "#sdk/stub-server";
import { kinds } from "../generated/kinds.ts";
import { ids, paged, stubApi, writesOf } from "../test-api.ts";
import { testCommand } from "../test-shell.ts";
import { isNamedInPartner } from "./named-rows.ts";

const PRINCIPAL = "66666666-6666-4666-8666-666666666666";
const KEY_ID = "77777777-7777-4777-8777-777777777777";
const command = testCommand();
let stub: Stub;
let isSystem = false;
const keys = [
  { id: ids.hq, orgId: ids.contoso, name: "ci", status: "active" },
  { id: ids.otherHq, orgId: ids.fabrikam, name: "ci", status: "active" },
  { id: ids.twin, orgId: ids.contoso, name: "old", status: "revoked" },
  { id: KEY_ID, orgId: ids.contoso, name: "old", status: "active" },
];
const devices = [
  { id: ids.hq, orgId: ids.contoso, hostname: "WS-1", displayName: null, orgName: "Contoso", status: "online" },
  {
    id: ids.twin,
    orgId: ids.contoso,
    hostname: "WS-10",
    displayName: "Front desk",
    orgName: "Contoso",
    status: "online",
  },
  { id: ids.otherHq, orgId: ids.fabrikam, hostname: "ws-2", displayName: null, orgName: "Fabrikam", status: "offline" },
  { id: KEY_ID, orgId: ids.contoso, hostname: "ws-2", displayName: null, orgName: "Contoso", status: "online" },
  { id: PRINCIPAL, orgId: ids.contoso, hostname: "ws-1", displayName: null, status: "decommissioned" },
];
const contacts = [
  { id: ids.hq, orgId: ids.contoso, name: "Ana", email: "ana@contoso.example" },
  { id: ids.twin, orgId: ids.contoso, name: "Ana", email: null },
];
beforeAll(async () => {
  const within = (rows: { orgId: string }[], query: URLSearchParams) =>
    paged(
      rows.filter(({ orgId }) => query.get("orgId") === null || query.get("orgId") === orgId),
      query,
    );
  stub = await stubApi({
    "GET /api-keys": (_seen, query) => within(keys, query),
    "GET /users": (_seen, query) => paged([{ id: ids.hq, name: "Ana", email: "ana@a.example" }], query),
    "GET /service-principals": (_seen, query) =>
      within([{ id: ids.hq, orgId: ids.contoso, name: "robot" } as never], query),
    "GET /orgs/partners": (_seen, query) => paged([{ id: ids.twin }, { id: ids.contoso }], query),
    "GET /partner-service-principals": (_seen, query) => {
      if (isSystem && !query.has("partnerId")) return refusal(400, "PARTNER_ID_REQUIRED");
      if (query.get("partnerId") === ids.twin) return { body: { data: [] } };
      return {
        body: { data: [{ id: PRINCIPAL, name: "rollout", keys: [{ id: KEY_ID, name: "first", status: "active" }] }] },
      };
    },
    [`POST /partner-service-principals/${PRINCIPAL}/keys`]: () => ({
      status: 201,
      body: { keyId: "k", key: "svc_sp_k" },
    }),
    "GET /devices": (_seen, query) => {
      const rows = devices.filter(({ hostname, orgId }) => {
        const [part = "", org] = [query.get("search")?.toLowerCase(), query.get("orgId")];
        return hostname.toLowerCase().includes(part) && (org === null || org === orgId);
      });
      return { body: { devices: rows, nextCursor: null, limit: 100 } };
    },
    "GET /devices/*": () => ({ body: { id: ids.hq } }),
    "DELETE /devices/*": () => ({ body: { success: true } }),
    "GET /webhooks": (_seen, query) => within([{ id: ids.hq, orgId: ids.contoso, name: "ticketing" } as never], query),
    "GET /webhooks/*": () => ({ body: { id: ids.hq } }),
    [`GET /orgs/organizations/${ids.contoso}/contacts`]: (_seen, query) => paged(contacts, query),
    "DELETE /orgs/contacts/*": () => ({ body: { success: true } }),
    "DELETE /api-keys/*": () => ({ body: { success: true } }),
    "GET /users/*": () => ({ body: { id: ids.hq } }),
    [`DELETE /partner-service-principals/${PRINCIPAL}/keys/${KEY_ID}`]: () => ({ body: { success: true } }),
    [`POST /service-principals/${ids.hq}/disable`]: () => ({ body: { success: true } }),
  });
});
beforeEach(() => {
  stub.seen.length = 0;
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const run = (...argv: string[]) => command.run(argv, { env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" } });

it("keys, principals and people are named by name", async () => {
  for (const [argv, path] of [
    [["api-keys", "revoke", "ci", "--org", "contoso-dental", "--yes"], `/api-keys/${ids.hq}`],
    [["api-keys", "revoke", "OLD", "--yes"], `/api-keys/${KEY_ID}`],
    [["service-principals", "disable", "robot", "--yes"], `/service-principals/${ids.hq}/disable`],
    [
      ["partner-service-principals", "revoke-key", "rollout", "first", "--yes"],
      `/partner-service-principals/${PRINCIPAL}/keys/${KEY_ID}`,
    ],
  ] as const) {
    stub.seen.length = 0;
    const ran = await run(...argv);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expect(writesOf(stub).map((one) => one.path)).toEqual([`/api/v1${path}`]);
  }
  expect((await run("users", "get", "ana@a.example")).code).toBe(0);
});

it("devices are named by hostname: the one that works, of that whole name", async () => {
  const got = async (...argv: string[]) => {
    stub.seen.length = 0;
    const ran = await run("devices", "get", ...argv);
    return [ran.code, stub.seen.at(-1)?.path.replace("/api/v1", "")];
  };
  expect(await got("ws-1")).toEqual([0, `/devices/${ids.hq}`]);
  expect(await got("ws-2", "--org", "fabrikam")).toEqual([0, `/devices/${ids.otherHq}`]);
  const twice = await run("devices", "get", "WS-2");
  expect([twice.code, twice.stdout]).toEqual([2, ""]);
  for (const part of [`${KEY_ID}  ws-2  Contoso  online`, "Fabrikam  offline", "Give its id instead, or --org"])
    expect(twice.stderr).toContain(part);
  expect((await run("devices", "get", "ws")).stderr).toContain("Did you mean WS-1 or");
  const none = await run("devices", "get", "nobody");
  expect([none.code, none.stderr]).toEqual([3, expect.stringContaining("`rmm devices list --search nob`")]);
  expect((await run("webhooks", "get", "ticketing")).code).toBe(0);
});

it("contacts are named by email or name, in the organization that --org gives", async () => {
  const remove = (...argv: string[]) => run("contacts", "remove", ...argv, "--yes");
  const ran = await remove("ANA@contoso.example", "--org", ids.contoso);
  expect(ran.code, ran.stderr).toBe(0);
  expect(writesOf(stub).map(({ path }) => path)).toEqual([`/api/v1/orgs/contacts/${ids.hq}`]);
  stub.seen.length = 0;
  expect(await remove("ana@contoso.example")).toMatchObject({ code: 2, stderr: expect.stringContaining("--org") });
  expect(await remove("Ana", "--org", ids.contoso)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(ids.twin),
  });
  expect(writesOf(stub)).toEqual([]);
});

it("a partner's principal is found by name where no partner is named: among those of all", async () => {
  isSystem = true;
  const ran = await run("partner-service-principals", "revoke-key", "rollout", "first", "--yes");
  isSystem = false;
  expect(ran.code, ran.stderr).toBe(0);
  expect(writesOf(stub)).toHaveLength(1);
});

it("--partner says in which partner names are looked up, of every kind whose list takes one", async () => {
  const inPartner = (Object.keys(kinds) as RefName[]).filter(isNamedInPartner);
  expect(inPartner).toEqual(["role", "user", "partner-service-principal", "partner-key"]);
  isSystem = true;
  const named = ["rollout", "--name", "second", "--partner"];
  const ran = await run("partner-service-principals", "issue-key", ...named, ids.contoso);
  const elsewhere = await run("partner-service-principals", "issue-key", ...named, ids.twin);
  isSystem = false;
  expect(ran.code, ran.stderr).toBe(0);
  expect(elsewhere.code, "no such principal there").toBe(3);
  expect(writesOf(stub).map(({ path }) => path)).toEqual([`/api/v1/partner-service-principals/${PRINCIPAL}/keys`]);
  expect(
    stub.seen.some(({ path }) => path.includes("/orgs/partners")),
    "other partners are not asked",
  ).toBe(false);
});

it("an ambiguous name is refused with the candidates, an unknown one with what is close", async () => {
  const twice = await run("api-keys", "revoke", "ci", "--yes");
  expect(twice).toMatchObject({ code: 2, stdout: "" });
  for (const id of [ids.hq, ids.otherHq]) expect(twice.stderr).toContain(id);
  const unknown = await run("api-keys", "revoke", "cii", "--yes");
  expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining("Did you mean ci")]);
  expect(writesOf(stub)).toEqual([]);
});
