import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { databases, seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { type Actor, actorOf, ways } from "./actors.ts";
import { type Rmm, rmmHere } from "./rmm-process.ts";

interface Book {
  apiVersion: string;
  organizations: {
    slug: string;
    name: string;
    sites: { name: string }[];
    contacts: { name: string }[];
    enrollmentKeys?: { name: string; sink: string }[];
  }[];
}

/** Part of the shipped example file: accents, keys, several sites. */
const shipped = parse(
  readFileSync(fileURLToPath(new URL("../../../fixtures/files/tenants.yaml", import.meta.url)), "utf8"),
) as Book;
const chosen = ["harbor-dental", "boulangerie-erable", "mingyue-tech"];
const book: Book = { ...shipped, organizations: shipped.organizations.filter(({ slug }) => chosen.includes(slug)) };

describe.each(databases)("provisioning from a file, on %s", (database) => {
  let server: TestServer;
  let rmm: Rmm;
  let token: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    const { partnerId } = await seedPartner(server, "acme");
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId }));
    rmm = rmmHere({ RMM_SERVER: server.url, RMM_TOKEN: token });
    writeFileSync(join(rmm.dir, "book.json"), JSON.stringify(book));
  });
  afterAll(async () => {
    rmm.close();
    await server.stop();
  });

  const wanted = book.organizations.length + book.organizations.flatMap(({ sites }) => sites).length;
  const contacts = book.organizations.flatMap((one) => one.contacts).length;
  const keys = book.organizations.flatMap(({ enrollmentKeys = [] }) => enrollmentKeys);

  it("a plan shows every create, changes nothing, and exits 10 with --detailed-exitcode", async () => {
    const plan = await rmm.run(["plan", "book.json", "--json", "--detailed-exitcode"]);
    expect(plan.code).toBe(10);
    const { items } = JSON.parse(plan.stdout);
    expect(items).toHaveLength(wanted + contacts + keys.length);
    expect((await rmm.run(["plan", "book.json"])).code).toBe(0);
    expect((await rmm.run(["organizations", "list", "--json"])).stdout.trim()).toBe("[]");
  });

  it("a pipeline is not asked: without --yes nothing happens", async () => {
    const ran = await rmm.run(["apply", "book.json"]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain("--yes");
  });

  it("applying it creates everything, and each secret is in a file that only the user can read", async () => {
    const ran = await rmm.run(["apply", "book.json", "--yes", "--json"]);
    expect(ran.code, ran.stderr).toBe(0);
    expect(JSON.parse(ran.stdout).items).toHaveLength(wanted + contacts + keys.length);
    for (const { sink } of keys) {
      const path = join(rmm.dir, sink.slice("file:".length));
      const secret = readFileSync(path, "utf8").trim();
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(secret).toMatch(/^[0-9a-f]{64}$/);
      expect(ran.stdout + ran.stderr).not.toContain(secret);
    }
  });

  it.each(ways)("everything can be read through %s, under the names of the file", async (way) => {
    const actor: Actor = actorOf(way, server.url, token);
    const orgs = await actor.call("organizations", "list");
    expect(orgs.map((org: { name: string }) => org.name).toSorted()).toEqual(
      book.organizations.map(({ name }) => name).toSorted(),
    );
    const sites = await actor.call("sites", "list");
    expect(sites.map((site: { name: string }) => site.name).toSorted()).toEqual(
      book.organizations.flatMap((one) => one.sites.map(({ name }) => name)).toSorted(),
    );
    const minted = await actor.call("enrollmentKeys", "list");
    expect(minted.map((key: { name: string }) => key.name).toSorted()).toEqual(keys.map(({ name }) => name).toSorted());
    actor.close();
  });

  it("a second run changes nothing, and a plan says so", async () => {
    const again = await rmm.run(["apply", "book.json", "--yes", "--json"]);
    expect(again.code, again.stderr).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ items: [] });
    expect((await rmm.run(["plan", "book.json", "--detailed-exitcode"])).code).toBe(0);
  });

  it("the plan of an edited file lists exactly the edits, and a delete happens only when allowed", async () => {
    const edited = structuredClone(book);
    const [first] = edited.organizations;
    first!.name = "Harbor Dental & Partners";
    const gone = first!.contacts.pop()!;
    writeFileSync(join(rmm.dir, "edited.json"), JSON.stringify(edited));
    const plan = await rmm.run(["plan", "edited.json", "--json", "--detailed-exitcode"]);
    expect(plan.code).toBe(10);
    const { items } = JSON.parse(plan.stdout) as { items: { action: string; kind: string; name: string }[] };
    expect(items.map(({ action, kind }) => `${action} ${kind}`).toSorted()).toEqual([
      "delete contact",
      "update organization",
    ]);
    await rmm.run(["apply", "edited.json", "--yes"]);
    const names = async () =>
      JSON.parse(
        (await rmm.run(["contacts", "list", "--org", first!.slug, "--all", "--json=name"])).stdout,
      ) as object[];
    expect(await names()).toContainEqual({ name: gone.name });
    expect((await rmm.run(["apply", "edited.json", "--yes", "--allow-delete"])).code).toBe(0);
    expect(await names()).not.toContainEqual({ name: gone.name });
    expect((await rmm.run(["plan", "edited.json", "--detailed-exitcode"])).code).toBe(0);
  });
});
