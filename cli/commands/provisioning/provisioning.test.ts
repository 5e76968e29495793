import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createClient } from "#sdk/client";
import {
  databases,
  type SignedInUser,
  seedPartner,
  startTestServer,
  type TestServer,
} from "../../../server/test/harness.ts";
import { type RunOptions, testCommand } from "../../test-shell.ts";

const files = join(import.meta.dirname, "../../../fixtures/files");
const command = testCommand();
afterAll(() => command.close());

/** A file of this test, by its name. */
const at = (name: string) => join(command.dir, name);
const write = (name: string, text: string) => {
  writeFileSync(at(name), text);
  return at(name);
};

describe.each(databases)("provisioning commands on %s", (database) => {
  let server: TestServer;
  let admin: SignedInUser;
  beforeAll(async () => {
    server = await startTestServer(database);
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    const { partnerId } = await seedPartner(server, `p${Math.random().toString(36).slice(2)}`);
    admin = await server.signIn({ role: "Partner Admin", partnerId });
    rmSync(at("secrets"), { recursive: true, force: true });
  });

  const run = (argv: string[], options: RunOptions = {}) =>
    command.run(argv, {
      now: () => server.clock.nowMs(),
      ...options,
      env: { RMM_SERVER: server.url, RMM_TOKEN: admin.token, ...options.env },
    });
  const small = (sinks: string[]) =>
    write(
      "small.yaml",
      `apiVersion: rmm/v1\norganizations:\n  - slug: a\n    name: A\n    enrollmentKeys:\n${sinks.map((sink, n) => `      - { name: k${n}, sink: "${sink}" }`).join("\n")}\n`,
    );

  it("applies the book of customers; after that nothing changes, and its export says the same", async () => {
    copyFileSync(join(files, "tenants.yaml"), at("tenants.yaml"));
    const first = await run(["apply", at("tenants.yaml"), "--yes", "--json"]);
    expect(first.code).toBe(0);
    const { summary, items } = JSON.parse(first.stdout);
    expect(summary).toEqual({ done: items.length, failed: 0, skipped: 0, held: 0, person: 0, notes: 0 });
    expect(items.length).toBeGreaterThan(40 + 120 + 300 + 30);
    expect(readdirSync(at("secrets"))).toHaveLength(30);
    const secret = readFileSync(at("secrets/harbor-dental-branch.key"), "utf8").trim();
    expect(first.stdout + first.stderr).not.toContain(secret);
    expect(first.stderr).toContain("30 enrollment keys minted");

    expect(await run(["apply", at("tenants.yaml"), "--yes"])).toMatchObject({ code: 0, stdout: "no changes\n" });
    expect(await run(["plan", at("tenants.yaml"), "--detailed-exitcode"])).toMatchObject({
      code: 0,
      stdout: "no changes\n",
    });

    expect(await run(["export", "-o", at("exported.yaml"), "--yes"])).toMatchObject({ code: 0, stdout: "" });
    expect(await run(["plan", at("exported.yaml"), "--detailed-exitcode"])).toMatchObject({
      code: 0,
      stdout: "no changes\n",
    });
    expect(readFileSync(at("exported.yaml"), "utf8")).toBe((await run(["export"])).stdout);
    expect(parse(readFileSync(at("exported.yaml"), "utf8")).organizations).toHaveLength(45);
  }, 180_000);

  it("shows a plan for people and for programs, and says with 10 that there is one", async () => {
    const file = small(["file:secrets/a.key"]);
    const shown = await run(["plan", file, "--detailed-exitcode"]);
    expect(shown.code).toBe(10);
    expect(shown.stdout).toContain("+ create organization a\n    slug: a\n    name: A\n");
    expect(shown.stdout).toContain("2 to create, 0 unchanged\n");
    expect(shown.stderr).toMatch(/^None of the file's organizations is at http:\S+ yet\n/);
    expect(shown.stderr).toMatch(/Applying it sends 2 requests, 1 enrollment key minted\n$/);
    const json = await run(["plan", file, "--json"]);
    expect(json.code).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject({
      summary: { create: 2 },
      items: [
        { action: "create", kind: "organization", key: "a", item: { line: 3, name: "a" } },
        { action: "create", kind: "enrollmentKey", key: "a/k0", item: { line: 6, name: "k0" } },
      ],
    });
    expect(await run(["apply", file, "--dry-run"])).toMatchObject({ code: 0, stdout: shown.stdout });
    expect(
      await createClient({ baseUrl: server.url, credentials: { token: admin.token } })
        .organizations.list()
        .toArray(),
    ).toEqual([]);
    expect(existsSync(at("secrets"))).toBe(false);
  });

  it("lists deletes first and holds them back without --allow-delete", async () => {
    await run([
      "apply",
      write("one.yaml", "apiVersion: rmm/v1\norganizations: [{ slug: a, name: A, sites: [{ name: X }, { name: Y }] }]"),
      "--yes",
    ]);
    const less = write("less.yaml", "apiVersion: rmm/v1\norganizations: [{ slug: a, name: B, sites: [{ name: X }] }]");
    expect((await run(["plan", less])).stdout).toBe(
      "- delete site a / Y\n~ update organization a\n    name: A → B\n1 to delete (held back without --allow-delete), 1 to change, 1 unchanged\n",
    );
    const held = await run(["apply", less, "--yes"]);
    expect(held).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^done\tupdate\torganization\ta\ta\t[^\t]+\t\t\nheld\tdelete\tsite\ta\tY\t/),
    });
    expect(held.stderr).toContain("1 delete held back");
    expect(await run(["apply", less, "--yes", "--allow-delete"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^done\tdelete\tsite/),
    });
  });

  it("asks a person, and needs --yes of a program", async () => {
    const file = small(["file:secrets/a.key"]);
    expect(await run(["apply"])).toMatchObject({ code: 2, stderr: expect.stringContaining("Missing: <file>, --yes") });
    const unasked = await run(["apply", file, "--org", "harbor"]);
    expect(unasked).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--yes") });
    expect(unasked.stderr).toContain(`\`rmm apply ${file} --dry-run --org harbor\``);
    expect(await run(["apply", file], { tty: true, answers: ["no"], env: { NO_COLOR: "1" } })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("+ create organization a"),
    });
    const yes = await run(["apply", file], { tty: true, answers: ["yes"], env: { NO_COLOR: "1" } });
    expect(yes).toMatchObject({ code: 0, stdout: expect.stringContaining("created   enrollment key a / k0 → file:") });
  });

  it("gives stdout to the one secret that wants it, and fields to programs", async () => {
    const alone = await run(["apply", small(["stdout"]), "--yes"]);
    expect(alone.code).toBe(0);
    expect(alone.stdout).toMatch(/^[0-9a-f]{64}\n$/);
    expect(alone.stderr).toContain("created   enrollment key a / k0 → stdout");
    expect(alone.stderr).not.toContain(alone.stdout.trim());
    expect(await run(["apply", small(["stdout"]), "--yes"])).toMatchObject({ code: 0, stdout: "no changes\n" });
    const again = await run(["apply", small(["stdout"]), "--yes", "--redeliver"]);
    expect(again.stdout).toBe(alone.stdout);
    rmSync(at("small.yaml"));
    const two = small(["stdout", "stdout", "stdout"]);
    expect(await run(["apply", two, "--yes"])).toMatchObject({
      code: 6,
      stdout: "",
      stderr: expect.stringContaining("stdout takes one secret and 2 keys"),
    });
    const lines = (await run(["apply", two, "--yes", "--ndjson"])).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { outcome: "done", secret: expect.stringMatching(/^[0-9a-f]{64}$/) },
      { outcome: "done", secret: expect.any(String) },
    ]);
  });

  it("hands a secret to a workflow, masked first", async () => {
    const env = { GITHUB_OUTPUT: write("output", ""), GITHUB_ACTIONS: "true" };
    const ran = await run(["apply", small(["github-output:K"]), "--yes"], { env });
    const secret = readFileSync(at("output"), "utf8").match(/^K=([0-9a-f]{64})\n$/)?.[1] as string;
    expect(ran.code).toBe(0);
    expect(ran.stderr.split(secret)).toHaveLength(2);
    expect(ran.stderr).toContain(`::add-mask::${secret}\n`);
  });

  it("ends with 9 and the command when a secret is lost, and with 6 before anything when a file is in the way", async () => {
    const file = small(["file:secrets/a.key"]);
    await run(["apply", file, "--yes"]);
    const client = createClient({ baseUrl: server.url, credentials: { token: admin.token } });
    const [key] = await client.enrollmentKeys.list().toArray();
    server.clock.advance(1_000);
    await client.enrollmentKeys.rotate({ params: { id: key!.id } });
    rmSync(at("secrets"), { recursive: true });
    const lost = await run(["apply", file, "--yes"]);
    expect(lost).toMatchObject({
      code: 9,
      stdout: "no changes\n",
      stderr: expect.stringContaining(`rmm enrollment-keys rotate ${key!.id} --yes --secret-file`),
    });
    expect((await run(["apply", file, "--yes", "--no-sink-check"])).code).toBe(0);
    await client.enrollmentKeys.remove({ params: { id: key!.id } });
    mkdirSync(at("secrets"));
    write("secrets/a.key", "other\n");
    expect(await run(["apply", file, "--yes"])).toMatchObject({
      code: 6,
      stdout: "",
      stderr: expect.stringContaining("never overwritten"),
    });
  });

  it("says what is missing before the first change: second factor, permission, room in the partner", async () => {
    const file = small(["file:secrets/a.key"]);
    const { partnerId } = await seedPartner(server, `q${Math.random().toString(36).slice(2)}`);
    const weak = await server.signIn({ role: "Partner Admin", partnerId, mfa: false });
    const viewer = await server.signIn({ role: "Partner Viewer", partnerId });
    expect(await run(["apply", file, "--yes"], { env: { RMM_TOKEN: weak.token } })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("second factor"),
    });
    expect(await run(["apply", file, "--yes"], { env: { RMM_TOKEN: viewer.token } })).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("organizations:write"),
    });
    expect(existsSync(at("secrets"))).toBe(false);
    await server.db.updateTable("partners").set({ maxOrganizations: 0 }).where("id", "=", partnerId).execute();
    const full = await server.signIn({ role: "Partner Admin", partnerId });
    const ran = await run(["apply", file, "--yes"], { env: { RMM_TOKEN: full.token } });
    expect(ran.code).toBe(6);
    expect(ran.stderr).toContain("may have 0 organizations and has 0: 1 more do not fit");
    expect(ran.stdout).toMatch(
      /^failed\tcreate\torganization\ta\ta\t\t\tORG_LIMIT_REACHED: .*\nskipped\tcreate\tenrollmentKey/,
    );
  });

  it("finishes what is in hand on Ctrl-C, says how to go on, and goes on", async () => {
    const yaml = ["a", "b", "c", "d", "e", "f"].map(
      (slug) => `{ slug: ${slug}, name: N, sites: [{ name: X }, { name: Y }] }`,
    );
    const file = write("many.yaml", `apiVersion: rmm/v1\norganizations: [${yaml.join(", ")}]`);
    const stop = new AbortController();
    const stdout = new Writable({
      write(_chunk, _encoding, done) {
        stop.abort();
        done();
      },
    });
    const stopped = await run(["apply", file, "--yes"], { signal: stop.signal, stdout });
    expect(stopped).toMatchObject({
      code: 130,
      stderr: expect.stringContaining(`go on with: \`rmm apply ${file} --yes\``),
    });
    expect(await run(["apply", file, "--yes"])).toMatchObject({ code: 0 });
    expect(await run(["plan", file])).toMatchObject({ stdout: "no changes\n" });
  });

  it("exports what the file format cannot say with a warning, and leaves it alone", async () => {
    const client = createClient({ baseUrl: server.url, credentials: { token: admin.token } });
    const org = await client.organizations.create({ body: { name: "T", slug: "t" } });
    for (const name of ["HQ", "hq"]) {
      const site = await client.sites.create({ body: { orgId: org.id, name } });
      await client.contacts.create({
        params: { id: org.id },
        body: { name: `at ${name}`, siteId: site.id, isPrimary: true },
      });
    }
    const ran = await run(["export", "t"]);
    expect(ran).toMatchObject({ code: 9, stderr: expect.stringContaining("two sites have one name") });
    expect(parse(ran.stdout).organizations[0]).not.toHaveProperty("sites");
    expect(await run(["plan", write("t.yaml", ran.stdout), "--detailed-exitcode"])).toMatchObject({ code: 0 });
    expect((await run(["export", "nope"])).code).toBe(3);
  });

  it("exports for the system what the named organizations tell of their partner, and asks for --partner otherwise", async () => {
    const name = () => `q${Math.random().toString(36).slice(2)}`;
    const [first, second, shared] = [name(), name(), name()];
    await seedPartner(server, first, [`${first}-west`, shared]);
    await seedPartner(server, second, [`${second}-west`, shared]);
    const env = { RMM_TOKEN: (await server.signIn({ role: "System Admin" })).token };
    for (const argv of [
      ["export", "--org", `${first}-west`],
      ["export", "--partner", first, `${first}-west`],
    ]) {
      const ran = await run(argv, { env });
      expect(ran.code, ran.stderr).toBe(0);
      const { partner, organizations } = parse(ran.stdout);
      expect([partner, organizations]).toMatchObject([first, [{ slug: `${first}-west` }]]);
      const again = await run(["plan", write("of-system.yaml", ran.stdout), "--detailed-exitcode"], { env });
      expect(again.code, again.stderr).toBe(0);
    }
    for (const argv of [["export", `${first}-west`, `${second}-west`], ["export", shared], ["export"]]) {
      const ran = await run(argv, { env });
      expect([argv, ran.code, ran.stdout]).toEqual([argv, 2, ""]);
      expect(ran.stderr).toContain("--partner");
      expect(ran.stderr).not.toContain("file, or");
    }
    expect((await run(["export", shared, "--partner", second], { env })).code).toBe(0);
  });
});

describe("without a server", () => {
  it("names every problem of a file with its line", async () => {
    const file = write("bad.yaml", "apiVersion: rmm/v1\norganizations:\n  - slug: a\n    status: gone\n  - name: B\n");
    const ran = await command.run(["plan", file]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain(`${file}:4 organizations[0].status: must be one of active, trial, suspended, churned`);
    expect(ran.stderr).toContain(`${file}:5 organizations[1]: slug is missing`);
    const json = JSON.parse((await command.run(["plan", file, "--json"])).stderr);
    expect(json.error).toMatchObject({
      code: "INVALID_FILE",
      details: [
        { file, line: 4 },
        { file, line: 5 },
      ],
    });
    expect((await command.run(["plan", at("missing.yaml")])).code).toBe(2);
  });

  it("prints the schema of the file", async () => {
    const schema = JSON.parse((await command.run(["schema", "provisioning"])).stdout);
    expect(schema).toMatchObject({ type: "object", required: ["apiVersion", "organizations"] });
    expect(JSON.stringify(schema)).not.toContain("patternMessage");
  });

  const german = ["type:Kunde=customer", "type:Intern=internal", "status:Aktiv=active", "status:Test=trial"].flatMap(
    (one) => ["--map-value", one],
  );
  it.each([
    [
      "cp1252-semicolon",
      [...german, "--timezone", "Europe/Berlin"],
      "backerei-grunauer cafe-zurcher-sohne unsere-buros zahnarztpraxis-dr-weiss",
      "not used: Kundennummer",
    ],
    [
      "utf8-bom",
      [],
      "harbor-dental-group org-6f588f47 org-be0d7577 org-d45217fd rozova-dolina-ood tsimiski-naytiliaki",
      "not used: Territory",
    ],
    ["utf16-tab", [], "org-f83240f0 sen-vang-co zlota-apteka-sp-z-oo", "utf-16le, tab"],
    ["quoted", [], "corner-shop ofc smith-jones-llp", "utf-8, pipe"],
  ])("imports customers-%s.csv into a file that plan takes", async (name, flags, slugs, told) => {
    const ran = await command.run(["import", join(files, `customers-${name}.csv`), ...flags]);
    expect(ran.code).toBe(0);
    expect(
      parse(ran.stdout)
        .organizations.map(({ slug }: { slug: string }) => slug)
        .join(" "),
    ).toBe(slugs);
    expect(ran.stderr).toContain(told);
    // Without a credential: the file was read and found sound.
    expect((await command.run(["plan", write("imported.yaml", ran.stdout)])).code).toBe(4);
  });

  it("refuses bad rows with file, line and reason, and goes on with the rest", async () => {
    const csv = join(files, "customers-bad-rows.csv");
    const ran = await command.run(["import", csv, "--quiet"]);
    expect(ran.code).toBe(9);
    expect(parse(ran.stdout).organizations.map(({ slug }: { slug: string }) => slug)).toEqual([
      "fine-again",
      "good-company",
    ]);
    expect(
      ran.stderr
        .split("\n")
        .filter((line) => line.startsWith(csv))
        .map((line) => line.slice(csv.length + 1).split(":")[0]),
    ).toEqual(["3", "4", "5", "6", "7", "8", "9"]);
    const json = await command.run(["import", csv, "--json"]);
    expect(JSON.parse(json.stderr.trim().split("\n").at(-1) as string).error).toMatchObject({
      code: "ROWS_REFUSED",
      details: { length: 7 },
    });
    expect(JSON.parse(json.stdout)).toEqual(parse(ran.stdout));
    expect(await command.run(["import", csv, "-o", write("there.yaml", "x")])).toMatchObject({ code: 2, stdout: "" });
    expect(readFileSync(at("there.yaml"), "utf8")).toBe("x");
  });

  it("makes no file of nothing: where every row is refused the code is that of a failure", async () => {
    const csv = write("none.csv", "Company,Email\nA,nobody\nB,nowhere\n");
    const ran = await command.run(["import", csv, "-o", at("none.yaml")]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("0 of 2 rows taken");
    expect(existsSync(at("none.yaml"))).toBe(false);
    expect(await command.run(["import", csv])).toMatchObject({ code: 1, stdout: "" });
  });

  it("tells programs where the file of an import is", async () => {
    const csv = write("two.csv", "Company\nA\nB\n");
    const ran = await command.run(["import", csv, "-o", at("two.json"), "--json"]);
    expect(JSON.parse(ran.stdout)).toEqual({ path: at("two.json"), organizations: 2, rows: 2, refused: 0 });
    expect(JSON.parse(readFileSync(at("two.json"), "utf8")).organizations).toHaveLength(2);
  });

  it("keeps control characters of a CSV away from the terminal", async () => {
    const csv = write("evil.csv", "Company,Email\n\u001b[31mRed,a@x.example\n");
    const ran = await command.run(["import", csv], { tty: true });
    expect(ran.stdout + ran.stderr).not.toContain("\u001b[31m");
    expect(ran.stderr).toContain('"\\u001b[31mRed" holds U+001B');
  });
});
