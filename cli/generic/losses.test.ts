import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Stub, stubServer } from "#sdk/stub-server";
import { kinds } from "../generated/kinds.ts";
import type { CommandSpec } from "../manifest.ts";
import { ids, orgs, writesOf } from "../test-api.ts";
import { ANY_ID, specs, unconfirmed } from "../test-commands.ts";
import { testCommand } from "../test-shell.ts";
import { withOwnPassword } from "./own-password.ts";

const SLUG = "slug-of-it";
const command = testCommand();
let stub: Stub;
beforeAll(async () => {
  // Of every kind at once: each is called by its own fields.
  const called = Object.fromEntries(Object.values(kinds).flatMap(({ labels }) => labels.map((name) => [name, "It"])));
  const held = { ...called, id: ANY_ID };
  const row = { ...held, slug: SLUG, key: "k", orgId: ids.contoso, keys: [held] };
  const lists = { data: [row], items: [row], providers: [row], pagination: { page: 1, limit: 100, total: 1 } };
  stub = await stubServer(({ path }) => ({
    body: path === "/api/v1/orgs" ? { data: orgs } : { ...row, ...lists },
  }));
});
beforeEach(() => {
  stub.seen.length = 0;
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const losing = (await specs()).filter(({ loses }) => loses !== "nothing");
const each = (chosen: readonly CommandSpec[]) =>
  it.each(chosen.map((spec) => [`${spec.noun} ${spec.name}`, spec] as const));
const ofTenant = losing.filter(({ loses }) => loses === "tenant");
const ofOthers = losing.filter(({ loses }) => loses !== "tenant");

type Options = Parameters<typeof command.run>[1];

/** Runs a command that has all it needs but the answer to the question. */
function run(
  { argv, stdin }: { argv: string[]; stdin?: string },
  spec: CommandSpec,
  more: string[],
  options: Options = {},
) {
  const token = spec.access.kinds.includes("agent") ? `agt_${"0".repeat(64)}` : "token-of-ana";
  const env = { RMM_SERVER: stub.url, RMM_TOKEN: token, ...options.env };
  return command.run([...argv, ...more], { ...(stdin === undefined ? {} : { stdin }), ...options, env });
}

describe("a command that destroys something", () => {
  it("the tests cover rows, secrets and tenants, and every kind of key", () => {
    expect(new Set(losing.map(({ loses }) => loses))).toEqual(new Set(["work", "row", "secret", "tenant"]));
    const names = losing.map(({ noun, name }) => `${noun} ${name}`);
    for (const one of ["partner-service-principals rotate-key", "agents rotate-token", "mfa recovery-codes"])
      expect(names).toContain(one);
  });

  each(losing)("%s sends nothing without --yes or --confirm if no one can be asked", async (_name, spec) => {
    const refused = {
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(spec.loses === "tenant" ? "--confirm=" : "--yes"),
    };
    expect(await run(unconfirmed(spec), spec, [])).toMatchObject(refused);
    for (const env of [{ CI: "true" }, { RMM_NO_INPUT: "1" }])
      expect(await run(unconfirmed(spec), spec, [], { tty: true, answers: [], env })).toMatchObject(refused);
    expect(stub.seen).toEqual([]);
  });

  each(losing)("%s changes nothing when a person says no", async (_name, spec) => {
    const ran = await run(unconfirmed(spec), spec, [], { tty: true, answers: ["no"] });
    expect(ran).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/nothing was done/i) });
    expect(writesOf(stub)).toEqual([]);
  });

  each(losing)("%s asks with the server, the profile and the name of the thing", async (_name, spec) => {
    const asked: string[] = [];
    await run(unconfirmed(spec), spec, [], { tty: true, answers: ["no"], asked, env: { RMM_ORG: ids.contoso } });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain(`at ${stub.url} (profile default)`);
    // A device's token reads no devices.
    if (spec.params.length > 0 && spec.noun !== "agents") expect(asked[0]).toContain("It");
    const isOfCustomer = Object.values(spec.refs).some((ref) => ["site", "contact", "api-key"].includes(ref));
    if (isOfCustomer) expect(asked[0]).toContain("of Contoso Dental");
  });

  each(ofOthers)("%s sends one request with --yes", async (_name, spec) => {
    expect(await run(unconfirmed(spec), spec, ["--yes"])).toMatchObject({ code: 0 });
    expect(writesOf(stub).map(({ method }) => method)).toEqual([spec.method]);
  });

  each(ofTenant)("%s requires the slug of the tenant, not only --yes and no other slug", async (_name, spec) => {
    for (const more of [["--yes"], ["--yes", "--confirm=another"], ["--confirm=1"]])
      expect(await run(unconfirmed(spec), spec, more)).toMatchObject({ code: 2, stdout: "" });
    expect(writesOf(stub)).toEqual([]);
    expect(await run(unconfirmed(spec), spec, [`--confirm=${SLUG}`])).toMatchObject({ code: 0 });
    expect(writesOf(stub)).toHaveLength(1);
  });
});

describe("a command that destroys several things", () => {
  const list = (spec: CommandSpec) => {
    const { body } = withOwnPassword(spec, {});
    const given = [...spec.params, ...body.filter(({ required }) => required).map(({ name }) => name)];
    const entry = JSON.stringify(Object.fromEntries(given.map((name) => [name, ANY_ID])));
    return { argv: [spec.noun, spec.name, "-f", "-"], stdin: `[${entry},${entry}]` };
  };

  each(ofOthers.filter(({ params }) => params.length > 0))("%s requires their number", async (_name, spec) => {
    for (const more of [[], ["--yes"], ["--yes", "--confirm=3"]])
      expect(await run(list(spec), spec, more)).toMatchObject({ code: 2, stdout: "" });
    expect(stub.seen).toEqual([]);
    await run(list(spec), spec, ["--confirm=2"]);
    expect(writesOf(stub)).toHaveLength(2);
  });

  each(ofTenant)("%s refuses a list", async (_name, spec) => {
    expect(await run(list(spec), spec, ["--confirm=2"])).toMatchObject({ code: 2, stdout: "" });
    expect(stub.seen).toEqual([]);
  });

  it("an empty list sends nothing and succeeds", async () => {
    const spec = ofOthers.find(({ noun, name }) => noun === "sites" && name === "remove") as CommandSpec;
    const ran = await run({ argv: ["sites", "remove", "-f", "-"], stdin: "[]" }, spec, ["--json"]);
    expect(ran).toMatchObject({ code: 0, stdout: "[]\n" });
    expect(stub.seen).toEqual([]);
  });
});

it("says what it would do where --yes alone is missing", async () => {
  const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" };
  for (const noun of [["audit-retention"], ["audit", "retention"]]) {
    const ran = await command.run([...noun, "set", "contoso-dental", "--retention-days", "400"], { env });
    expect([ran.code, writesOf(stub)]).toEqual([2, []]);
    expect(ran.stderr).toBe(
      "rmm: Missing: --yes\n  It would do this: Set how long an organization's audit entries are kept: contoso-dental, --retention-days 400. What that removes cannot be restored\n",
    );
  }
  const site = await command.run(["sites", "remove", "HQ"], { env });
  expect(site.stderr).toMatch(/Missing: --yes\n {2}It would do this: .*: HQ\. It cannot be restored\n$/);
});

it("rmm auth mfa asks as rmm mfa does", async () => {
  for (const name of ["disable", "recovery-codes"]) {
    const spec = losing.find((one) => one.noun === "mfa" && one.name === name) as CommandSpec;
    const { argv, ...rest } = unconfirmed(spec);
    const ran = await run({ argv: ["auth", ...argv], ...rest }, spec, []);
    expect(ran).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--yes") });
  }
  expect(stub.seen).toEqual([]);
});
