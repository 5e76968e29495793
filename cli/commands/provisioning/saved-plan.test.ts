import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedPartnerPrincipal } from "#fixtures/nouns/credentials/partner-service-principals";
import { createClient, type RmmClient } from "#sdk/client";
import { seedPartner, startTestServer, type TestServer } from "../../../server/test/harness.ts";
import { testCommand } from "../../test-shell.ts";

const book = `apiVersion: rmm/v1
organizations:
  - slug: harbor
    name: Harbor Dental
    sites:
      - { name: HQ, timezone: America/Denver, address: { city: Denver, region: CO } }
    contacts: [{ name: Ana, email: ana@harbor.example }]
    enrollmentKeys: [{ name: rollout, site: HQ, expiresIn: 30d, sink: "file:secrets/rollout.key" }]
`;
const edited = book.replace("Harbor Dental", "Harbor Dental Group").replace("region: CO", "region: WA");

const command = testCommand();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer("sqlite");
});
afterAll(async () => {
  await server?.stop();
  command.close();
});

let token: string;
let partnerId: string;
let rmm: RmmClient;
let folder: string;
beforeEach(async () => {
  const slug = `p${Math.random().toString(36).slice(2)}`;
  ({ partnerId } = await seedPartner(server, slug));
  ({ token } = await server.signIn({ role: "Partner Admin", partnerId }));
  rmm = createClient({ baseUrl: server.url, credentials: { token } });
  folder = join(command.dir, slug);
  mkdirSync(folder);
});

const at = (name: string) => join(folder, name);
const write = (name: string, text: string) => {
  writeFileSync(at(name), text);
  return at(name);
};
const run = (argv: string[], env: Record<string, string | undefined> = { RMM_TOKEN: token }) =>
  command.run(argv, { now: () => server.clock.nowMs(), env: { RMM_SERVER: server.url, ...env } });
const ok = async (argv: string[]) => {
  const ran = await run(argv);
  expect(ran.code, ran.stderr).toBe(0);
  return ran;
};
const site = async () => (await rmm.sites.list().toArray())[0]!;
const org = async () => (await rmm.organizations.list().toArray())[0]!;

describe("a saved plan", () => {
  it("is shown and saved, its owner's alone to read, and carried out as it was shown", async () => {
    const planned = await ok(["plan", write("book.yaml", book), "-o", at("plan.json")]);
    expect(planned.stdout).toContain("+ create organization harbor");
    expect(planned.stderr).toContain(`rmm apply ${at("plan.json")}`);
    expect(statSync(at("plan.json")).mode & 0o777).toBe(0o600);
    expect(await rmm.organizations.list().toArray()).toEqual([]);
    const saved = JSON.parse(readFileSync(at("plan.json"), "utf8"));
    expect(saved).toMatchObject({ apiVersion: "rmm/plan-v1", server: server.url, items: { length: 4 } });
    expect((await run(["plan", at("book.yaml"), "-o", at("plan.json")])).code, "it is not replaced").toBe(2);

    write("book.yaml", "not a provisioning file any more");
    await ok(["apply", at("plan.json"), "--yes"]);
    expect((await org()).name).toBe("Harbor Dental");
    expect(readFileSync(at("secrets/rollout.key"), "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
    const again = await ok(["apply", at("plan.json"), "--yes"]);
    expect(again.stdout).toBe("no changes\n");
  });

  it("is refused where the server has moved such that something else would be done, and nothing is changed", async () => {
    await ok(["apply", write("book.yaml", book), "--yes"]);
    await ok(["plan", write("edited.yaml", edited), "-o", at("plan.json"), "--allow-delete"]);
    await rmm.sites.update({ params: { id: (await site()).id }, body: { address: { city: "Denver", region: "NM" } } });
    const stale = await run(["apply", at("plan.json"), "--yes", "--json"]);
    expect(stale).toMatchObject({ code: 6, stdout: "" });
    const { error } = JSON.parse(stale.stderr.trim().split("\n").at(-1)!);
    expect(error).toMatchObject({ code: "PLAN_STALE", details: [{ path: "harbor/HQ" }] });
    expect(error.hint).toContain(" --allow-delete --yes`");
    expect(error.details[0].message).toContain("address.region is NM now");
    expect((await org()).name).toBe("Harbor Dental");
    expect((await site()).address).toEqual({ city: "Denver", region: "NM" });
    await ok(["plan", at("edited.yaml"), "-o", at("plan.json"), "--yes"]);
    await ok(["apply", at("plan.json"), "--yes"]);
    expect((await site()).address).toEqual({ city: "Denver", region: "WA" });
  });

  it.each([
    [
      "an object that the file does not list has come",
      () => org().then(({ id }) => rmm.contacts.create({ params: { id }, body: { name: "New" } })),
      "delete contact: the plan does not say it",
    ],
    [
      "an object that it would change is gone and would be made anew",
      () => site().then(({ id }) => rmm.sites.remove({ params: { id } })),
      "create site: the plan says update",
    ],
  ])("is refused where %s", async (_what, move, told) => {
    const small = edited.replace(/ {4}enrollmentKeys.*\n/, "");
    await ok(["apply", write("book.yaml", book.replace(/ {4}enrollmentKeys.*\n/, "")), "--yes"]);
    await ok(["plan", write("edited.yaml", small), "-o", at("plan.json"), "--allow-delete"]);
    await move();
    const before = await rmm.contacts.list({ params: { id: (await org()).id } }).toArray();
    const stale = await run(["apply", at("plan.json"), "--yes"]);
    expect(stale).toMatchObject({ code: 6, stdout: "", stderr: expect.stringContaining(told) });
    expect((await org()).name).toBe("Harbor Dental");
    expect(await rmm.contacts.list({ params: { id: (await org()).id } }).toArray()).toEqual(before);
  });

  it("goes on after a run that did a part of it", async () => {
    await ok(["plan", write("book.yaml", book), "-o", at("plan.json")]);
    await rmm.organizations.create({ body: { slug: "harbor", name: "Harbor Dental", partnerId } });
    const rest = await ok(["apply", at("plan.json"), "--yes", "--json"]);
    expect(JSON.parse(rest.stdout).items.map(({ key }: { key: string }) => key)).toEqual([
      "harbor/HQ",
      "harbor/Ana",
      "harbor/rollout",
    ]);
  });

  it("is refused where somebody made what it creates and gave it other values", async () => {
    await ok(["plan", write("book.yaml", book), "-o", at("plan.json")]);
    const made = await rmm.organizations.create({ body: { slug: "harbor", name: "Harbor Dental", partnerId } });
    const address = { city: "Boulder", region: "CO" };
    await rmm.sites.create({ body: { orgId: made.id, name: "HQ", address } });
    const stale = await run(["apply", at("plan.json"), "--yes"]);
    expect(stale).toMatchObject({ code: 6, stdout: "", stderr: expect.stringContaining("update site") });
    expect((await site()).address).toEqual(address);
  });

  it("is of one server and one kind of credential, and has answered what decides it", async () => {
    await ok(["plan", write("book.yaml", book), "-o", at("plan.json")]);
    const { partnerKey } = await seedPartnerPrincipal(server.db, server.services, partnerId);
    expect(await run(["apply", at("plan.json"), "--yes"], { RMM_API_KEY: partnerKey })).toMatchObject({
      code: 6,
      stderr: expect.stringContaining("another kind of credential"),
    });
    const moved = JSON.parse(readFileSync(at("plan.json"), "utf8"));
    write("else.json", JSON.stringify({ ...moved, server: "https://other.example" }));
    expect((await run(["apply", at("else.json"), "--yes"])).code).toBe(6);
    for (const flag of ["--allow-delete", "--redeliver", "--no-sink-check", "--org=harbor", "--partner=x"])
      expect(await run(["apply", at("plan.json"), "--yes", flag]), flag).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(flag.split("=")[0] as string),
      });
    expect((await run(["plan", at("plan.json")])).code).toBe(2);
    write("half.json", JSON.stringify({ apiVersion: "rmm/plan-v1" }));
    expect((await run(["apply", at("half.json"), "--yes"])).code).toBe(2);
    expect(await rmm.organizations.list().toArray()).toEqual([]);
  });

  it("that was edited by hand is no plan of what would be done", async () => {
    await ok(["plan", write("book.yaml", book), "-o", at("plan.json")]);
    const saved = JSON.parse(readFileSync(at("plan.json"), "utf8"));
    const text = saved.source.text.replace("Harbor Dental", "Something Else");
    write("plan.json", JSON.stringify({ ...saved, source: { ...saved.source, text } }));
    expect((await run(["apply", at("plan.json"), "--yes"])).code).toBe(6);
    expect(await rmm.organizations.list().toArray()).toEqual([]);
  });
});

describe("rmm diff", () => {
  it("shows value by value where the server differs, and tells with 10 that it does", async () => {
    await ok(["apply", write("book.yaml", book), "--yes"]);
    expect(await run(["diff", at("book.yaml")])).toMatchObject({ code: 0, stdout: "" });
    await rmm.contacts.create({ params: { id: (await org()).id }, body: { name: "Bob\u2028Lee" } });
    const keyed = edited.replace("expiresIn: 30d,", "maxUsage: 9,");
    const differs = await run(["diff", write("edited.yaml", keyed)]);
    expect(differs.code).toBe(10);
    expect(differs.stdout).toBe(`--- ${server.url}
+++ ${at("edited.yaml")}
@@ delete contact harbor/Bob\\u2028Lee @@
-name: Bob\\u2028Lee
@@ update organization harbor, line 3 @@
-name: Harbor Dental
+name: Harbor Dental Group
@@ update site harbor/HQ, line 6 @@
-address.region: CO
+address.region: WA
@@ left to a person: enrollment key harbor/rollout, line 8 @@
-maxUsage: 1
+maxUsage: 9
`);
    const json = await run(["diff", at("edited.yaml"), "--json"]);
    expect(json.code).toBe(10);
    expect(JSON.parse(json.stdout)).toMatchObject({
      items: [
        { kind: "contact" },
        { kind: "organization" },
        { kind: "site", key: "harbor/HQ", item: { line: 6, name: "HQ" } },
      ],
      notes: [{ kind: "enrollmentKey", changes: [{ field: "maxUsage", before: 1, after: 9 }], left: "differs" }],
    });
    expect((await site()).address).toEqual({ city: "Denver", region: "CO" });
  });
});
