import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createClient, type RmmClient } from "#sdk/client";
import { makeDevices } from "../../../server/test/devices.ts";
import { seedPartner, startTestServer, type TestServer } from "../../../server/test/harness.ts";
import { testCommand } from "../../test-shell.ts";

const command = testCommand();
let server: TestServer;
let token: string;
let rmm: RmmClient;
beforeAll(async () => {
  server = await startTestServer("sqlite");
});
afterAll(async () => {
  await server?.stop();
  command.close();
});
beforeEach(async () => {
  const { partnerId } = await seedPartner(server, `p${Math.random().toString(36).slice(2)}`);
  ({ token } = await server.signIn({ role: "Partner Admin", partnerId }));
  rmm = createClient({ baseUrl: server.url, credentials: { token } });
  rmSync(join(command.dir, "secrets"), { recursive: true, force: true });
});

const write = (name: string, organization: string) => {
  writeFileSync(join(command.dir, name), `apiVersion: rmm/v1\norganizations:\n${organization}`);
  return join(command.dir, name);
};
const run = (...argv: string[]) =>
  command.run(argv, { now: () => server.clock.nowMs(), env: { RMM_SERVER: server.url, RMM_TOKEN: token } });

describe("what is left", () => {
  const keyed = (maxUsage: number) =>
    `  - { slug: a, name: A, enrollmentKeys: [{ name: k, maxUsage: ${maxUsage}, sink: "file:secrets/k" }] }\n`;

  it("to a person is counted, a difference for --detailed-exitcode, and no success of apply", async () => {
    expect((await run("apply", write("one.yaml", keyed(1)), "--yes")).code).toBe(0);
    const more = write("more.yaml", keyed(5));
    const plan = await run("plan", more, "--detailed-exitcode");
    expect(plan).toMatchObject({ code: 10, stdout: expect.stringMatching(/\n1 left to a person, 1 unchanged\n$/) });
    expect((await run("plan", more)).code).toBe(0);
    const json = JSON.parse((await run("plan", more, "--json")).stdout);
    expect(json).toMatchObject({
      summary: { create: 0, update: 0, person: 1, held: 0, unchanged: 1 },
      items: [],
      notes: [
        {
          kind: "enrollmentKey",
          key: "a/k",
          item: { line: 3, name: "k" },
          changes: [{ field: "maxUsage", before: 1, after: 5 }],
          left: "differs",
          command: expect.stringContaining("--max-usage 5"),
        },
      ],
    });
    const applied = await run("apply", more, "--yes", "--json");
    expect(applied.code).toBe(9);
    expect(JSON.parse(applied.stdout).summary).toEqual({
      done: 0,
      failed: 0,
      skipped: 0,
      held: 0,
      person: 1,
      notes: 1,
    });
    expect((await rmm.enrollmentKeys.list().toArray())[0]).toMatchObject({ maxUsage: 1 });
  });

  it("of deletes is counted and a difference: those held back, and those that the server would refuse", async () => {
    const both = "  - { slug: a, name: A, sites: [{ name: HQ }, { name: Lab }, { name: Depot }] }\n";
    expect((await run("apply", write("both.yaml", both), "--yes")).code).toBe(0);
    const sites = await rmm.sites.list().toArray();
    const lab = sites.find(({ name }) => name === "Lab")!;
    await makeDevices(server, [{ orgId: lab.orgId, siteId: lab.id }]);
    const less = write("less.yaml", "  - { slug: a, name: A, sites: [{ name: HQ }] }\n");
    const plan = await run("plan", less, "--detailed-exitcode");
    expect(plan.code).toBe(10);
    expect(plan.stdout).toContain("- delete site a / Lab  the server refuses: 1 device must leave it first\n");
    expect(plan.stdout).toContain("- delete site a / Depot\n");
    expect(plan.stdout).toContain(
      "2 to delete (held back without --allow-delete; 1 refused by the server), 2 unchanged",
    );
    const { summary, items } = JSON.parse((await run("plan", less, "--json", "--allow-delete")).stdout);
    expect(summary).toMatchObject({ delete: 2, held: 0, refused: 1 });
    expect(items.map(({ key, refused }: { key: string; refused: unknown }) => [key, refused])).toEqual([
      ["a/Lab", "1 device must leave it first"],
      ["a/Depot", null],
    ]);
    const applied = await run("apply", less, "--yes", "--allow-delete");
    expect(applied).toMatchObject({ code: 9, stdout: expect.stringContaining("SITE_NOT_EMPTY") });
    expect((await rmm.sites.list().toArray()).map(({ name }) => name)).toEqual(["HQ", "Lab"]);
    const env = { RMM_SERVER: server.url, RMM_TOKEN: token, NO_COLOR: "1" };
    const onTerminal = { now: () => server.clock.nowMs(), env, tty: true, columns: 50 };
    const again = await command.run(["apply", less, "--yes", "--allow-delete"], onTerminal);
    expect(again.stdout).toMatch(/^failed +delete site a \/ Lab : .*\n( {10}.*\n)*.*SITE_NOT_EMPTY/m);
    for (const line of again.stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(50);
    expect(again.code, "nothing went through: the server's refusal is the exit code").toBe(6);
  });
});

describe("a plan", () => {
  it("counts as apply does: an organization that is made and then suspended is two changes in both", async () => {
    const file = write("closed.yaml", "  - { slug: s, name: S, status: suspended, sites: [{ name: HQ }] }\n");
    const plan = await run("plan", file);
    expect(plan.stdout).toContain("+ create organization s\n    slug: s\n    name: S\n    status: active\n");
    expect(plan.stdout).toContain("~ update organization s\n    status: active → suspended\n");
    const { summary, budget } = JSON.parse((await run("plan", file, "--json")).stdout);
    expect(summary).toMatchObject({ create: 2, update: 1 });
    expect(budget.requests).toBe(3);
    const saved = join(command.dir, "closed.json");
    expect((await run("plan", file, "-o", saved)).code).toBe(0);
    const applied = await run("apply", saved, "--yes", "--json");
    expect(JSON.parse(applied.stdout).summary).toMatchObject({ done: 3, failed: 0 });
    expect(await run("diff", file)).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringMatching(/^Nothing differs$/m),
    });
    const taken = await run("plan", file, "-o", saved);
    expect([taken.code, taken.stdout]).toEqual([2, ""]);
    expect(taken.stderr).toMatch(/exists already/);
  });

  it("shows an address field by field, and of a change those that change", async () => {
    const site = (address: string) =>
      write("site.yaml", `  - { slug: a, name: A, sites: [{ name: HQ, address: ${address} }] }\n`);
    const made = site("{ line1: 1 Main St, city: Denver }");
    expect((await run("plan", made)).stdout).toContain("    address.line1: 1 Main St\n    address.city: Denver\n");
    expect((await run("apply", made, "--yes")).code).toBe(0);
    const moved = (await run("plan", site("{ line1: 1 Main St, city: Boulder, country: US }"))).stdout;
    expect(moved).toContain("    address.city: Denver → Boulder\n    address.country: (none) → US\n");
    expect(moved).not.toContain("line1");
    expect((await run("plan", site("null"))).stdout).toContain("    address.city: Denver → (none)\n");
  });

  it("knows the partner before it says what it reads", async () => {
    const file = write("any.yaml", "  - { slug: a, name: A }\n");
    const { token: system } = await server.signIn({ role: "System Admin" });
    const env = { RMM_SERVER: server.url, RMM_TOKEN: system };
    for (const name of ["plan", "apply", "diff"]) {
      const argv = [name, file, "--partner", "nosuch", ...(name === "apply" ? ["--yes"] : [])];
      const ran = await command.run(argv, { now: () => server.clock.nowMs(), env });
      expect(ran.code).toBe(3);
      expect(ran.stderr).toMatch(/^rmm: There is no partner nosuch/);
    }
  });
});

describe("an export", () => {
  it("names both of two that share a name, and numbers them where that is asked", async () => {
    const org = await rmm.organizations.create({ body: { name: "T", slug: "t" } });
    const orgId = org.id;
    const sites = [];
    const keys = [];
    for (const name of ["HQ", "hq", "HQ (2)"]) sites.push(await rmm.sites.create({ body: { orgId, name } }));
    for (const name of ["roll", "Roll"]) keys.push(await rmm.enrollmentKeys.create({ body: { orgId, name } }));
    const plain = await run("export", "T");
    expect(plain.code).toBe(9);
    expect(plain.stderr).toContain(`two sites have one name: HQ (${sites[0]!.id}), hq (${sites[1]!.id})`);
    expect(plain.stderr).toContain(`two enrollment keys have one name: roll (${keys[0]!.id}), Roll (${keys[1]!.id})`);
    expect(parse(plain.stdout).organizations[0]).not.toHaveProperty("enrollmentKeys");
    const numbered = await run("export", org.id, "--number-namesakes");
    expect(numbered.code, numbered.stderr).toBe(0);
    const [one] = parse(numbered.stdout).organizations;
    expect(one.sites.map(({ name }: { name: string }) => name)).toEqual(["HQ", "HQ (2)", "hq (3)"]);
    expect(one.enrollmentKeys.map(({ name }: { name: string }) => name)).toEqual(["Roll (2)", "roll"]);
    expect(existsSync(join(command.dir, "secrets"))).toBe(false);
  });
});
