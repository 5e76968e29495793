import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { seedPartnerPrincipal } from "#fixtures/nouns/credentials/partner-service-principals";
import { databases, seedPartner, startTestServer, type TestServer } from "../../../server/test/harness.ts";
import { testCommand } from "../../test-shell.ts";

const command = testCommand();
afterAll(() => command.close());
const write = (name: string, text: string) => {
  writeFileSync(join(command.dir, name), text);
  return join(command.dir, name);
};

/** The same site under both names of its region. */
const book = (name: "state" | "region", region = "CO") =>
  `apiVersion: rmm/v1\norganizations:\n  - slug: harbor\n    name: Harbor\n    sites:\n      - { name: HQ, address: { city: Denver, ${name}: ${region} } }\n`;

describe.each(databases)("the region of an address on %s", (database) => {
  let server: TestServer;
  let partnerId: string;
  let user: Record<string, string>;
  let key: Record<string, string>;
  beforeAll(async () => {
    server = await startTestServer(database);
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    ({ partnerId } = await seedPartner(server, `p${Math.random().toString(36).slice(2)}`));
    user = { RMM_TOKEN: (await server.signIn({ role: "Partner Admin", partnerId })).token };
    key = { RMM_API_KEY: (await seedPartnerPrincipal(server.db, server.services, partnerId)).partnerKey };
  });

  const run = (argv: string[], env: Record<string, string>) =>
    command.run(argv, { now: () => server.clock.nowMs(), env: { RMM_SERVER: server.url, ...env } });
  const stored = async () => {
    const sites = server.db.selectFrom("sites").innerJoin("organizations", "organizations.id", "sites.orgId");
    const rows = await sites.select("sites.address").where("organizations.partnerId", "=", partnerId).execute();
    return rows.map(({ address }) => address);
  };
  const settled = async (file: string) => {
    for (const env of [user, key]) {
      const plan = await run(["plan", file, "--detailed-exitcode"], env);
      expect(plan, plan.stderr).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^(! .* must look\n)*no changes\n$/),
      });
    }
  };

  it.each(["state", "region"] as const)(
    "given as %s is stored as region by a user and by a partner key, and then nothing differs",
    async (name) => {
      for (const env of [user, key]) {
        const file = write("book.yaml", book(name).replaceAll("harbor", env === user ? "harbor" : "quay"));
        const applied = await run(["apply", file, "--yes", "--json"], env);
        expect(applied.code, applied.stderr).toBe(0);
        expect(JSON.parse(applied.stdout)).toMatchObject({ notes: [], summary: { done: 2 } });
        await settled(file);
      }
      expect(await stored()).toEqual([
        { city: "Denver", region: "CO" },
        { city: "Denver", region: "CO" },
      ]);
    },
  );

  it("stands in an export as region, which a user and a partner key take for what is there", async () => {
    await run(["apply", write("book.yaml", book("state")), "--yes"], user);
    const exported = await run(["export"], user);
    expect(parse(exported.stdout).organizations[0].sites[0].address).toEqual({ city: "Denver", region: "CO" });
    await settled(write("exported.yaml", exported.stdout));
  });

  it("comes from a column of a CSV under either name", async () => {
    const csv = write("sites.csv", "Company,Site,City,Province\nHarbor,HQ,Denver,CO\n");
    const guessed = await run(["import", csv], user);
    expect(parse(guessed.stdout).organizations[0].sites[0].address).toEqual({ city: "Denver", region: "CO" });
    for (const target of ["site.address.region", "site.address.state", "state", "region"]) {
      const mapped = await run(
        ["import", csv, "--map", `${target}=Province`, "--map-value", `${target}:CO=Colorado`],
        user,
      );
      expect(mapped.code, mapped.stderr).toBe(0);
      expect(parse(mapped.stdout).organizations[0].sites[0].address).toEqual({ city: "Denver", region: "Colorado" });
    }
    await run(["apply", write("imported.yaml", guessed.stdout), "--yes"], user);
    await settled(join(command.dir, "imported.yaml"));
  });

  it("that differs is carried out by a user, and by a partner key told as a difference and an error", async () => {
    await run(["apply", write("book.yaml", book("region")), "--yes"], user);
    const other = write("other.yaml", book("state", "WA"));
    const plan = await run(["plan", other, "--detailed-exitcode", "--json"], key);
    expect(plan.code).toBe(10);
    expect(JSON.parse(plan.stdout)).toMatchObject({
      summary: { person: 1 },
      notes: [{ key: "harbor/HQ", left: "differs", changes: [{ field: "address.region", before: "CO", after: "WA" }] }],
    });
    const applied = await run(["apply", other, "--yes"], key);
    expect(applied).toMatchObject({ code: 9, stderr: expect.stringContaining("differs in address.region") });
    expect(await stored()).toEqual([{ city: "Denver", region: "CO" }]);
    expect((await run(["apply", other, "--yes"], user)).code).toBe(0);
    expect(await stored()).toEqual([{ city: "Denver", region: "WA" }]);
    await settled(other);
  });

  it("and what else a partner key cannot send is never left out without a word", async () => {
    const text = book("region").replace("region: CO", "region: CO, county: Adams");
    const created = await run(["apply", write("more.yaml", text), "--yes"], key);
    expect(created).toMatchObject({ code: 9, stderr: expect.stringContaining("cannot set address.county") });
    expect(await stored()).toEqual([expect.objectContaining({ city: "Denver", region: "CO" })]);
    const number = write(
      "number.yaml",
      book("region").replace("harbor", "quay").replace("region: CO", "postalCode: [80202]"),
    );
    const refused = await run(["apply", number, "--yes"], key);
    expect(refused).toMatchObject({ code: 6, stdout: "", stderr: expect.stringContaining("must be text") });
    expect(await stored()).toHaveLength(1);
  });
});
