import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { ids, paged, stubApi, writesOf } from "../test-api.ts";
import { testCommand } from "../test-shell.ts";

const command = testCommand();
let stub: Stub;
let brokenPage: number | undefined;
let stop = new AbortController();
const many = Array.from({ length: 250 }, (_, index) => ({
  id: `id-${index}`,
  slug: `org-${index}`,
  name: `Org ${index}`,
}));
beforeAll(async () => {
  stub = await stubApi({
    "GET /orgs/organizations": (_seen, query) =>
      Number(query.get("page") ?? 1) === brokenPage
        ? refusal(500, "INTERNAL_ERROR")
        : paged(query.get("search") === "none" ? [] : many, query),
    "GET /orgs/organizations/*": () => ({ body: { id: ids.contoso, slug: "contoso-dental", name: "Contoso Dental" } }),
    "DELETE /orgs/organizations/*": () => ({ body: { success: true } }),
    "DELETE /orgs/sites/*": () => ({ body: { success: true } }),
    "PATCH /orgs/sites/*": ({ body }) => ({ body: { id: ids.hq, ...(body as object) } }),
    [`POST /orgs/organizations/${ids.contoso}/contacts`]: ({ body }) => {
      const { name } = body as { name?: string };
      if (name === "Stop") stop.abort();
      return name === "Bad"
        ? refusal(409, "DUPLICATE")
        : { status: 201, body: { id: `made-${name}`, ...(body as object) } };
    },
  });
});
beforeEach(() => {
  brokenPage = undefined;
  stub.seen.length = 0;
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const run = (argv: readonly string[], options: Parameters<typeof command.run>[1] = {}) =>
  command.run(argv, { ...options, env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana", ...options.env } });

it("after Ctrl-C counts what was done, failed and not tried, and names no entry that was not tried", async () => {
  stop = new AbortController();
  const file = join(command.dir, "stopped.json");
  writeFileSync(file, JSON.stringify(["Ana", "Bad", "Stop", "Dora", "Emil"].map((name) => ({ name }))));
  const line = ["contacts", "create", ids.contoso, "-f", file];
  const ran = await run(line, { tty: true, signal: stop.signal });
  expect(ran.code).toBe(130);
  expect(ran.stderr).toMatch(/^1 of 5 done, 2 failed, 2 not tried$/m);
  expect(ran.stdout).toContain("DUPLICATE");
  expect(ran.stdout).not.toContain("skipped");
  const [, again = ""] = /go on with: `rmm (.*)`/.exec(ran.stderr.replaceAll("\n", " ")) ?? [];
  expect(again.split(/ +/)).toEqual(line);
  stop = new AbortController();
  const piped = await run([...line.slice(0, 4), "-"], { stdin: readFileSync(file, "utf8"), signal: stop.signal });
  expect(piped.stdout.trim().split("\n"), "what was tried").toHaveLength(3);
  expect(piped.stderr).toContain(`go on with: \`rmm contacts create ${ids.contoso} -f -\`, with the same input`);
  stop = new AbortController();
  const json = await run([...line, "--json"], { tty: true, signal: stop.signal });
  expect(JSON.parse(json.stdout).map((one: { outcome: string }) => one.outcome)).toEqual([
    "done",
    "failed",
    "failed",
    "skipped",
    "skipped",
  ]);
});

describe("lists (C51)", () => {
  it("prints one JSON array of everything, of nothing, or of so many", async () => {
    const lengthOf = async (...more: string[]) =>
      JSON.parse((await run(["orgs", "list", "--json", ...more])).stdout).length;
    expect(await lengthOf("--all")).toBe(250);
    expect(await lengthOf("--all", "--search", "none")).toBe(0);
    expect(await lengthOf("--limit", "120")).toBe(120);
    expect(await lengthOf()).toBe(50);
  });

  it("says how many there are when it shows fewer", async () => {
    expect((await run(["orgs", "list"])).stderr).toBe("50 of 250; use --all\n");
    expect((await run(["orgs", "list", "--all"])).stderr).toBe("");
    expect((await run(["orgs", "list", "--quiet"])).stderr).toBe("");
  });

  it("prints nothing when a page fails", async () => {
    brokenPage = 2;
    for (const more of [["--json"], ["--ndjson"], []]) {
      expect(await run(["orgs", "list", "--all", ...more])).toMatchObject({ code: 1, stdout: "" });
    }
  });
});

describe("missing and wrong input", () => {
  it("names everything that is missing at once, and sends nothing", async () => {
    const ran = await run(["api-keys", "create", "--json"]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    const { details } = JSON.parse(ran.stderr).error;
    expect(details.map((one: { path: string }) => one.path)).toEqual(["--org", "--name"]);
    expect((await run(["sites", "remove"])).stderr).toContain("Missing: <id>, --yes");
    expect(stub.seen).toEqual([]);
  });

  it("asks where a person can be asked", async () => {
    const ran = await run(["contacts", "remove"], { tty: true, answers: [ids.hq, "no"] });
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain("Nothing was done");
    for (const env of [{ CI: "true" }, { RMM_NO_INPUT: "1" }]) {
      expect((await run(["contacts", "remove"], { tty: true, answers: [], env })).stderr).toContain("Missing:");
    }
  });

  it("knows what was meant", async () => {
    expect((await run(["orgs", "list", "--status", "activ"])).stderr).toContain("did you mean active?");
    expect((await run(["devicess", "list"])).stderr).toContain("did you mean devices?");
    expect((await run(["orgs", "lst"])).stderr).toContain("did you mean list?");
    expect((await run(["orgs", "list", "--serch", "x"])).stderr).toContain("did you mean --search?");
    expect((await run(["orgs", "list", "--json=slugg"])).stderr).toContain("did you mean slug?");
    expect((await run(["sites", "list", "--org", "contosodental"])).stderr).toContain("Did you mean contoso-dental?");
  });

  it("refuses a change that changes nothing", async () => {
    expect(await run(["sites", "update", ids.hq])).toMatchObject({ code: 2 });
    expect(writesOf(stub)).toEqual([]);
  });
});

describe("names in place of ids", () => {
  it("finds organizations by slug and name, and sites within an organization", async () => {
    await run(["sites", "list", "--org", "contoso-dental"]);
    expect(stub.seen.at(-1)?.path).toContain(`orgId=${ids.contoso}`);
    await run(["sites", "remove", "hq", "--org", "CONTOSO DENTAL", "--yes"]);
    expect(writesOf(stub).at(-1)?.path).toBe(`/api/v1/orgs/sites/${ids.hq}`);
  });

  it("lists the candidates of a name that several have, with exit 2", async () => {
    const org = await run(["sites", "list", "--org", "Twins"]);
    expect(org.code).toBe(2);
    expect(org.stderr).toContain(ids.fabrikam);
    expect(org.stderr).toContain(ids.twin);
    const site = await run(["sites", "remove", "HQ", "--yes"]);
    expect(site.code).toBe(2);
    expect(site.stderr).toContain("fabrikam");
    expect(writesOf(stub)).toEqual([]);
  });

  it("says not found for an unknown name", async () => {
    expect((await run(["sites", "list", "--org", "nobody"])).code).toBe(3);
  });

  it("uses the default organization for lists and children, never to move a thing that exists", async () => {
    const env = { RMM_ORG: "contoso-dental" };
    await run(["contacts", "create", "--name", "Ana"], { env });
    expect(writesOf(stub).at(-1)?.path).toContain(ids.contoso);
    await run(["sites", "update", ids.hq, "--name", "New"], { env });
    expect(writesOf(stub).at(-1)?.body).toEqual({ name: "New" });
  });
});

describe("losses", () => {
  it("needs the slug for an organization, --yes alone is not enough", async () => {
    expect((await run(["orgs", "remove", "contoso-dental", "--yes"])).stderr).toContain("--confirm=<slug>");
    expect((await run(["orgs", "remove", "contoso-dental", "--confirm=fabrikam"])).code).toBe(2);
    expect(writesOf(stub)).toEqual([]);
    expect((await run(["orgs", "remove", "contoso-dental", "--confirm=contoso-dental"])).code).toBe(0);
    expect(writesOf(stub)).toHaveLength(1);
  });
});

describe("input from files", () => {
  const csv = () => {
    const path = join(command.dir, "contacts.csv");
    writeFileSync(
      path,
      "\ufeffname;email;roles;isPrimary\r\nAna;ana@a.example;billing,admin;true\r\nBad;b@a.example;;false\r\nZoë;;technical;\r\n",
    );
    return path;
  };

  it("sends each entry, reports each, and exits 9 when some failed", async () => {
    const ran = await run(["contacts", "create", "contoso-dental", "-f", csv(), "--json"]);
    expect(ran.code).toBe(9);
    const report = JSON.parse(ran.stdout);
    expect(report.map((one: { outcome: string }) => one.outcome)).toEqual(["done", "failed", "done"]);
    expect(report[1].error.code).toBe("DUPLICATE");
    expect(writesOf(stub)[0]?.body).toEqual({
      name: "Ana",
      email: "ana@a.example",
      roles: ["billing", "admin"],
      isPrimary: true,
    });
    expect(writesOf(stub)[2]?.body).toEqual({ name: "Zoë", roles: ["technical"] });
  });

  it("reads JSON, NDJSON and YAML from stdin alike, and a flag wins over an entry", async () => {
    for (const stdin of ['[{"name":"A"},{"name":"B"}]', '{"name":"A"}\n{"name":"B"}\n', "- name: A\n- name: B\n"]) {
      stub.seen.length = 0;
      const ran = await run(["contacts", "create", "contoso-dental", "-f", "-", "--title", "Dr"], { stdin });
      expect(ran.code).toBe(0);
      expect(writesOf(stub).map(({ body }) => body)).toEqual([
        { name: "A", title: "Dr" },
        { name: "B", title: "Dr" },
      ]);
    }
  });

  it("refuses fields it does not know before anything is sent", async () => {
    const ran = await run(["contacts", "create", "contoso-dental", "-f", "-"], { stdin: '[{"naem":"A"}]' });
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain("did you mean name?");
    expect(writesOf(stub)).toEqual([]);
  });

  it("gives each entry an idempotency key of its own", async () => {
    await run(["enrollment-keys", "create", "--org", "contoso-dental", "-f", "-", "--idempotency-key", "batch-0001"], {
      stdin: '[{"name":"A"},{"name":"B"}]',
    });
    expect(writesOf(stub).map(({ headers }) => headers["x-idempotency-key"])).toEqual(["batch-0001-1", "batch-0001-2"]);
  });
});

describe("--dry-run (C54)", () => {
  it("prints the request and sends none that changes anything", async () => {
    const ran = await run(["sites", "remove", "HQ", "--org", "contoso-dental", "--dry-run", "--json"]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ method: "DELETE", url: `${stub.url}/api/v1/orgs/sites/${ids.hq}` });
    expect(ran.stdout).not.toContain("token-of-ana");
    expect(writesOf(stub)).toEqual([]);
  });
});
