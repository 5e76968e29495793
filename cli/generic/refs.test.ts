import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { builtInRoles } from "#contract/core/permissions";
import type { Stub } from "#sdk/stub-server";
import { ids, paged, stubApi, writesOf } from "../test-api.ts";
import { specs } from "../test-commands.ts";
import { testCommand } from "../test-shell.ts";
import { refsOf, scopePlaceOf } from "./refs-of.ts";
import { builtInRoleId } from "./role-names.ts";

const PARTNER = "66666666-6666-4666-8666-666666666666";
const command = testCommand();
let stub: Stub;
beforeAll(async () => {
  stub = await stubApi({
    "GET /users/me": () => ({ body: { scope: "partner" } }),
    "GET /orgs/partners/me": () => ({ body: { id: PARTNER, slug: "summit", name: "Summit, MSP" } }),
    "GET /devices": (_seen, query) => paged([], query),
    "GET /users": (_seen, query) => paged([], query),
    "GET /sso/check/*": () => ({ body: { ssoEnabled: false } }),
    [`GET /orgs/organizations/${ids.contoso}/contacts`]: (_seen, query) => paged([], query),
    [`POST /orgs/organizations/${ids.contoso}/contacts`]: ({ body }) => ({ status: 201, body }),
    "POST /users/invite": ({ body }) => ({ status: 201, body }),
    "PATCH /orgs/organizations/order": ({ body }) => ({ body }),
    "GET /partner-service-principals": () => ({ body: { data: [] } }),
  });
});
beforeEach(() => {
  stub.seen.length = 0;
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const run = (argv: readonly string[], options: Parameters<typeof command.run>[1] = {}) =>
  command.run(argv, { ...options, env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana", ...options.env } });
const asked = () => new URL(stub.seen.at(-1)?.path ?? "", "http://stub");
const query = (name: string) => asked().searchParams.get(name);

describe("names in place of ids", () => {
  it("are resolved in paths, queries and bodies", async () => {
    await run(["contacts", "list", "Contoso Dental", "--site-id", "hq"]);
    expect(asked().pathname).toBe(`/api/v1/orgs/organizations/${ids.contoso}/contacts`);
    expect(query("siteId")).toBe(ids.hq);
    await run(["sso-logins", "check", "contoso-dental"]);
    expect(asked().pathname).toBe(`/api/v1/sso/check/${ids.contoso}`);
    const [role] = builtInRoles.filter(({ scope }) => scope === "organization");
    await run([
      "users",
      "invite",
      "--email",
      "a@b.example",
      "--name",
      "A",
      "--role-id",
      role!.name,
      "--org-id",
      "twin",
    ]);
    expect(writesOf(stub).at(-1)?.body).toMatchObject({ roleId: builtInRoleId(role!.name), orgId: ids.twin });
  });

  it("are resolved in arrays and in texts with commas", async () => {
    await run(["orgs", "order", "--ordered-ids", "fabrikam,contoso-dental", "--ordered-ids", ids.twin]);
    expect(writesOf(stub).at(-1)?.body).toEqual({ orderedIds: [ids.fabrikam, ids.contoso, ids.twin] });
    await run([
      "devices",
      "list",
      "--org-ids",
      "fabrikam, contoso-dental",
      "--site-ids",
      "HQ",
      "--org",
      "contoso-dental",
    ]);
    expect(query("orgIds")).toBe(`${ids.fabrikam},${ids.contoso}`);
    expect(query("siteIds")).toBe(ids.hq);
  });

  it("may contain commas where one id is expected", async () => {
    for (const name of ["summit", "Summit, MSP", PARTNER]) {
      await run(["partner-service-principals", "list", "--partner-id", name]);
      expect(query("partnerId")).toBe(PARTNER);
    }
  });

  it("do not replace words that the field accepts besides ids", async () => {
    await run(["contacts", "list", "contoso-dental", "--site-id", "none"]);
    expect(query("siteId")).toBe("none");
  });

  it("are resolved in the entries of a file, and an unknown one fails its entry alone", async () => {
    const stdin = '[{"organization":"contoso-dental","name":"A","site":"HQ"},{"org":"nobody","name":"B"}]';
    const ran = await run(["contacts", "create", "-f", "-", "--json"], { stdin });
    expect(ran.code).toBe(9);
    const [done, failed] = JSON.parse(ran.stdout);
    expect([done.outcome, failed.error.code]).toEqual(["done", "UNKNOWN_ORGANIZATION"]);
    expect(writesOf(stub).map(({ body }) => body)).toEqual([{ name: "A", siteId: ids.hq }]);
  });
});

describe("--org, --site and the default organization", () => {
  it("set the id of that kind that the contract declares", async () => {
    await run(["devices", "list", "--org", "contoso-dental", "--site", "HQ"]);
    expect([query("orgId"), query("siteId")]).toEqual([ids.contoso, ids.hq]);
    await run(["sso-logins", "check", "--org", "contoso-dental"]);
    expect(asked().pathname).toBe(`/api/v1/sso/check/${ids.contoso}`);
    const ran = await run(["users", "me", "--org", "contoso-dental", "--site", "HQ"]);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining("`rmm users me` does not take --org, --site")]);
  });

  it("the default is not used if the request names a tenant; a flag is", async () => {
    const env = { RMM_ORG: "contoso-dental" };
    await run(["users", "list"], { env });
    expect(query("orgId")).toBe(ids.contoso);
    await run(["users", "list", "--partner-id", "summit"], { env });
    expect([query("orgId"), query("partnerId")]).toEqual([null, PARTNER]);
    await run(["devices", "list", "--org-ids", "fabrikam"], { env });
    expect([query("orgId"), query("orgIds")]).toEqual([null, ids.fabrikam]);
    await run(["devices", "list", "--org-ids", "fabrikam", "--org", "twin"], { env });
    expect([query("orgId"), query("orgIds")]).toEqual([ids.twin, ids.fabrikam]);
  });

  it("never set the id of the thing itself, nor the body of a change of a row", async () => {
    for (const spec of await specs()) {
      const place = scopePlaceOf(spec, "organization");
      if (place === undefined) continue;
      expect([spec.noun, spec.name, place.part]).not.toEqual(["organizations", spec.name, "params"]);
      // Of what each organization has one of, it says whose.
      const ofRow = spec.params.length > 0 && ["PATCH", "PUT"].includes(spec.method);
      if (ofRow) expect(place.part, `${spec.noun} ${spec.name}`).not.toBe("body");
    }
  });
});

it("every argument that is an id says in the help what it names", async () => {
  for (const spec of await specs()) {
    const named = refsOf(spec).filter(({ part }) => part === "params");
    const ids = spec.params.filter((name) => spec.refs[name] !== "opaque");
    expect(named.map(({ name }) => name).toSorted(), `${spec.noun} ${spec.name}`).toEqual(ids.toSorted());
  }
  expect((await run(["processes", "kill", "--help"])).stdout).toMatch(/pid +as `rmm processes list` shows it/);
  expect((await run(["contacts", "list", "--help"])).stdout).toContain(
    "slug, name or id of the organization (or --org)",
  );
  expect((await run(["devices", "get", "--help"])).stdout).toContain("hostname, display name or id of the device");
  expect((await run(["webhooks", "retry", "--help"])).stdout).toMatch(
    /delivery-id +id, as `rmm webhooks deliveries` shows/,
  );
  expect((await run(["api-keys", "get", "--help"])).stdout).toContain("name or id of the api-key");
  expect((await run(["users", "invite", "--help"])).stdout).toMatch(/--site-ids <values> .*\(names or\s+ids/);
});
