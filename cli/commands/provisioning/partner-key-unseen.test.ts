import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { seedPartnerPrincipal } from "#fixtures/nouns/credentials/partner-service-principals";
import { seedPartner, startTestServer, type TestServer } from "../../../server/test/harness.ts";
import { testCommand } from "../../test-shell.ts";

const command = testCommand();
const DAY = 86_400_000;
let server: TestServer;
let partnerId: string;
let token: string;
let partnerKey: string;
beforeAll(async () => {
  server = await startTestServer("sqlite");
});
afterAll(async () => {
  await server?.stop();
  command.close();
});
beforeEach(async () => {
  ({ partnerId } = await seedPartner(server, `p${Math.random().toString(36).slice(2)}`));
  ({ token } = await server.signIn({ role: "Partner Admin", partnerId }));
  ({ partnerKey } = await seedPartnerPrincipal(server.db, server.services, partnerId));
  forgetSecrets();
});

const forgetSecrets = () => rmSync(join(command.dir, "secrets"), { recursive: true, force: true });
const write = (organization: string) => {
  const path = join(command.dir, "book.yaml");
  writeFileSync(path, `apiVersion: rmm/v1\norganizations:\n${organization}`);
  return path;
};
const by = (credential: () => string) => (name: string, file: string, more: readonly string[]) =>
  command.run([name, file, ...more, ...(name === "apply" ? ["--yes"] : [])], {
    now: () => server.clock.nowMs(),
    env: { RMM_SERVER: server.url, RMM_TOKEN: credential() },
  });
const byUser = by(() => token);
const byKey = by(() => partnerKey);
const keysNamed = async (name: string) =>
  (
    await server.db
      .selectFrom("enrollmentKeys")
      .innerJoin("organizations", "organizations.id", "enrollmentKeys.orgId")
      .select("enrollmentKeys.id")
      .where("organizations.partnerId", "=", partnerId)
      .where("enrollmentKeys.name", "=", name)
      .execute()
  ).map(({ id }) => id);

const unseen = (maxDevices: number, email: string) => `  - slug: a
    name: A
    maxDevices: ${maxDevices}
    billingContact: { name: Bo }
    contacts: [{ name: Ana, email: ${email} }]
`;

describe("what a partner key cannot see", () => {
  it("is named by diff, which calls nothing equal that it did not compare", async () => {
    expect((await byUser("apply", write(unseen(5, "ana@a.example")), [])).code).toBe(0);
    const file = write(unseen(6, "other@a.example"));
    const ran = await byKey("diff", file, []);
    expect(ran).toMatchObject({ code: 0, stdout: "" });
    expect(ran.stderr).toContain(
      "! organization a / a: a partner key can neither see nor set maxDevices, billingContact",
    );
    expect(ran.stderr).toContain("! contact a / 1 in the file: a partner key sees no contacts");
    expect(ran.stderr).toMatch(
      /\nNothing differs in what this key sees; not compared: maxDevices, billingContact, contacts\n$/,
    );
    const { notes } = JSON.parse((await byKey("diff", file, ["--json"])).stdout);
    expect(notes.map(({ key, left }: { key: string; left: string }) => [key, left])).toEqual([
      ["a", "look"],
      ["a/1 in the file", "look"],
    ]);
    const changed = await byKey("diff", write(unseen(6, "x@a.example").replace("name: A\n", "name: B\n")), []);
    expect(changed).toMatchObject({ code: 10, stdout: expect.stringContaining("+name: B") });
    expect(changed.stderr).toMatch(/\nNot compared: maxDevices, billingContact, contacts\n$/);
    expect(changed.stdout).not.toContain("maxDevices");
    expect((await byUser("diff", write(unseen(5, "ana@a.example")), [])).stderr).toMatch(/\nNothing differs\n$/);
  });

  it("names empty lists and keys that count as made as well: nobody looked at them", async () => {
    const keyed = '  - { slug: a, name: A, enrollmentKeys: [{ name: k, maxUsage: 3, sink: "file:secrets/k" }] }\n';
    expect((await byKey("apply", write(keyed), [])).code).toBe(0);
    const other = await byKey("diff", write(keyed.replace("maxUsage: 3", "maxUsage: 4")), []);
    expect(other.stderr).toMatch(/; not compared: enrollment keys\n$/);
    const empty = await byKey("diff", write("  - { slug: a, name: A, contacts: [], enrollmentKeys: [] }\n"), []);
    expect(empty.stderr).toMatch(/; not compared: contacts, enrollment keys\n$/);
  });

  it("is certainly missing where this run makes the organization: a person must act, and the run ends with 9", async () => {
    const file = write(unseen(6, "ana@a.example"));
    const plan = JSON.parse((await byKey("plan", file, ["--json"])).stdout);
    expect(plan.summary).toMatchObject({ create: 1, person: 2, notes: 2 });
    const applied = await byKey("apply", file, ["--json"]);
    expect(applied.code).toBe(9);
    expect(JSON.parse(applied.stdout).summary).toMatchObject({ done: 1, failed: 0, person: 2, notes: 2 });
    expect(applied.stderr).toContain("cannot set maxDevices, billingContact: a person must set it");
    const later = await byKey("apply", file, ["--json"]);
    expect(later.code, "nobody knows any more").toBe(0);
    expect(JSON.parse(later.stdout).summary).toMatchObject({ done: 0, person: 0, notes: 2 });
  });

  it("is no difference where the file says what a new organization is anyway", async () => {
    const empty =
      "  - { slug: a, name: A, maxDevices: null, settings: {}, contacts: [], sites: [{ name: S, settings: {} }] }\n";
    const applied = await byKey("apply", write(empty), ["--json"]);
    expect(applied.code, applied.stderr).toBe(0);
    expect(JSON.parse(applied.stdout)).toMatchObject({ summary: { done: 2, person: 0 }, notes: [] });
    expect((await byUser("diff", write(empty), [])).code).toBe(0);
  });
});

describe("a key whose file is missing", () => {
  const keyed = '  - { slug: a, name: A, enrollmentKeys: [{ name: rollout, sink: "file:secrets/rollout" }] }\n';

  it("is not minted again by a partner key that did not make its organization, unless it is told to", async () => {
    const file = write(keyed);
    expect((await byUser("apply", file, [])).code).toBe(0);
    forgetSecrets();
    const plan = await byKey("plan", file, []);
    expect(plan.stdout).toContain("! enrollment key a / rollout: a key of this name may be there");
    const ran = await byKey("apply", file, ["--json"]);
    expect(ran.code).toBe(6);
    const [item] = JSON.parse(ran.stdout).items;
    expect(item).toMatchObject({ outcome: "failed", error: { code: "KEY_MAY_EXIST" } });
    expect(item.error.hint).toContain("--no-sink-check");
    expect(await keysNamed("rollout")).toHaveLength(1);
    expect(existsSync(join(command.dir, "secrets/rollout"))).toBe(false);
    expect((await byKey("apply", file, ["--no-sink-check"])).code).toBe(0);
    expect(await keysNamed("rollout")).toHaveLength(1);

    const told = await byKey("apply", file, ["--redeliver"]);
    expect(told.code, told.stderr).toBe(0);
    expect(told.stderr).toMatch(/Warning: a \/ rollout: a key of this name may be there/);
    const ids = await keysNamed("rollout");
    expect(ids).toHaveLength(2);
    const stuck = await byUser("plan", file, []);
    expect(stuck.code).toBe(6);
    for (const id of ids) expect(stuck.stderr).toContain(id);
    expect(stuck.stderr).toContain("`rmm enrollment-keys remove <id>` removes another");
    expect(stuck.stderr).not.toContain("rename");
  });

  it("is minted where this partner key made the organization within a day, and not after it", async () => {
    const bare = write("  - { slug: a, name: A }\n");
    expect((await byKey("apply", bare, [])).code).toBe(0);
    const more = keyed.replace("rollout, sink", "late, sink").replace("/rollout", "/late");
    expect((await byKey("apply", write(keyed), [])).code, "as after a run that died in between").toBe(0);
    expect(await keysNamed("rollout")).toHaveLength(1);
    server.clock.advance(DAY + 60_000);
    expect((await byKey("apply", write(more), [])).code).toBe(6);
    expect(await keysNamed("late")).toHaveLength(0);
  });
});
