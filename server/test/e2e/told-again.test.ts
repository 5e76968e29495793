import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer } from "../harness.ts";
import { type RotationWorld, rotationWorld } from "./key-rotation-world.ts";
import { type Rmm, rmmHere } from "./rmm-process.ts";

/** A run that is repeated gets the answers of the first; of what was rotated since they tell a secret that is dead. */
let world: RotationWorld;
let rmm: Rmm;
beforeAll(async () => {
  world = await rotationWorld(await startTestServer("sqlite"));
  rmm = rmmHere({ RMM_SERVER: world.server.url, RMM_TOKEN: world.admin.token });
});
afterAll(async () => {
  rmm?.close();
  await world?.server.stop();
});

interface Item {
  outcome: string;
  note?: string;
  secretFile?: string;
  result: Record<string, string>;
}

const kinds = [
  { noun: "enrollment-keys", verb: "create", entry: {}, renew: (id: string) => ["enrollment-keys", "rotate", id] },
  { noun: "api-keys", verb: "create", entry: { scopes: [] }, renew: (id: string) => ["api-keys", "rotate", id] },
] as const;

const listOf = (name: string, entries: readonly object[]): string => {
  const path = join(rmm.dir, `${name}.json`);
  writeFileSync(path, JSON.stringify(entries));
  return path;
};
const itemsOf = ({ stdout }: { stdout: string }) => JSON.parse(stdout) as [Item, Item];

it.each(kinds)(
  "$noun: a list that is sent again tells the secrets that work, and says of the others that they do not",
  async ({ noun, verb, entry, renew }) => {
    const create = [
      noun,
      verb,
      "--org",
      "acme-west",
      "-f",
      listOf(noun, [
        { ...entry, name: "A" },
        { ...entry, name: "B" },
      ]),
    ];
    const [a, b] = itemsOf(await rmm.run([...create, "--json"]));
    expect((await rmm.run([...renew(a.result["id"] as string), "--yes"])).code).toBe(0);
    const again = await rmm.run([...create, "--json"]);
    const [dead, works] = itemsOf(again);
    expect([again.code, dead.outcome, works.outcome]).toEqual([0, "exists", "exists"]);
    expect(again.stdout).not.toContain(a.result["key"]);
    expect([dead.result["id"], dead.note]).toEqual([a.result["id"], expect.stringContaining("no longer works")]);
    expect([works.result["key"], works.note]).toEqual([b.result["key"], undefined]);
    expect(again.stderr).toContain(`rmm ${noun} rotate <id>`);
    const table = await rmm.run(create);
    expect(table.stdout).toContain("no longer works");
    expect(table.stdout).not.toContain(a.result["key"]);
  },
);

it("what was removed since is made anew", async () => {
  const create = ["enrollment-keys", "create", "--org", "acme-west", "-f", listOf("gone", [{ name: "G" }]), "--json"];
  const [first] = itemsOf(await rmm.run(create));
  await rmm.run(["enrollment-keys", "remove", first.result["id"] as string, "--yes"]);
  const [second] = itemsOf(await rmm.run(create));
  expect([second.outcome, await world.ownerOf(second.result["key"] as string)]).toEqual([
    "done",
    `enrollment-key ${second.result["id"]}`,
  ]);
  expect(itemsOf(await rmm.run(create))[0]).toMatchObject({ outcome: "exists", result: second.result });
});

it("with an idempotency key of one's own a dead secret is refused, whichever command asks", async () => {
  const { partner } = world.principals;
  const singles = [
    {
      make: ["enrollment-keys", "create", "--org", "acme-west", "--name", "own"],
      end: (id: string) => ["enrollment-keys", "rotate", id],
    },
    {
      make: ["partner-service-principals", "issue-key", partner, "--name", "own"],
      end: (id: string) => ["partner-service-principals", "revoke-key", partner, id],
    },
    {
      make: [
        "webhooks",
        "create",
        "--org",
        "acme-west",
        "--name",
        "W",
        "--url",
        "https://[3ffe::1]/",
        "--events",
        "site.*",
      ],
      end: (id: string) => ["webhooks", "update", id, "--signing-secret-stdin"],
    },
  ];
  for (const { make, end } of singles) {
    const command = [...make, "--idempotency-key", `own-key-of-${make[0]}`];
    const first = await rmm.run([...command, "--json"]);
    expect(first.code, first.stderr).toBe(0);
    const made = JSON.parse(first.stdout) as Record<string, string>;
    const secret = (made["key"] ?? made["secret"]) as string;
    expect((await rmm.run(command)).stdout, make[0]).toContain(secret);
    const ended = await rmm.run([...end((made["id"] ?? made["keyId"]) as string), "--yes"], { stdin: "n".repeat(40) });
    expect(ended.code, ended.stderr).toBe(0);
    for (const more of [[], ["--json"], ["--secret-file", join(rmm.dir, "none")]]) {
      const again = await rmm.run([...command, ...more]);
      expect(again, make[0]).toMatchObject({ code: 6, stdout: "" });
      expect(again.stderr).toMatch(/SECRET_(STALE|GONE)|earlier request/);
      expect(again.stderr).not.toContain(secret);
    }
    expect(readdirSync(rmm.dir)).not.toContain("none");
  }
  const raw = [
    "api",
    "POST",
    "/enrollment-keys",
    "-f",
    `orgId=${world.orgId}`,
    "-f",
    "name=raw",
    "--idempotency-key",
    "raw-key-1",
  ];
  const { id } = JSON.parse((await rmm.run(raw)).stdout);
  expect((await rmm.run(raw)).stderr).toBe("");
  await rmm.run(["enrollment-keys", "rotate", id, "--yes"]);
  expect((await rmm.run(raw)).stderr).toContain("no longer works");
});

it("--secret-dir keeps each secret of a list in a file of its own, and shows none", async () => {
  const dir = join(rmm.dir, "secrets");
  const path = listOf("dir", [{ name: "../../HQ" }, { name: "支店" }, { name: "支店" }]);
  const create = ["enrollment-keys", "create", "--org", "acme-west", "-f", path, "--secret-dir", dir, "--json"];
  const ran = await rmm.run(create);
  expect([ran.code, ran.stdout.match(/"key": "[0-9a-f]{64}/)]).toEqual([0, null]);
  const files = readdirSync(dir).map((name) => join(dir, name));
  expect(files.toSorted()).toEqual((JSON.parse(ran.stdout) as Item[]).map(({ secretFile }) => secretFile).toSorted());
  expect(files).toHaveLength(3);
  expect(files.filter((file) => file.includes("acme-west_enrollment-key_HQ_"))).toHaveLength(1);
  for (const file of files) {
    const secret = readFileSync(file, "utf8").trim();
    expect(await world.ownerOf(secret)).toMatch(/^enrollment-key/);
    expect(ran.stdout + ran.stderr).not.toContain(secret);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
  expect((await rmm.run(create)).code).toBe(0);
  const [file = ""] = files;
  const before = readFileSync(file, "utf8");
  writeFileSync(file, "mine");
  const refused = await rmm.run(create);
  expect([refused.code, readFileSync(file, "utf8")]).toEqual([9, "mine"]);
  writeFileSync(file, before);

  const id = (await world.ownerOf(before.trim()))?.split(" ")[1];
  const rotate = ["enrollment-keys", "rotate", "-f", listOf("rotate", [{ id }]), "--yes", "--secret-dir"];
  const taken = await rmm.run([...rotate, dir]);
  expect([taken.code, taken.stdout]).toEqual([1, expect.stringContaining("exists already")]);
  expect(await world.ownerOf(before.trim())).toBe(`enrollment-key ${id}`);
  expect((await rmm.run([...rotate, join(rmm.dir, "rotated")])).code).toBe(0);
  expect(await world.ownerOf(before.trim())).toBeUndefined();
});

it("--secret-dir that cannot be written, or goes with no list, sends nothing", async () => {
  const count = async () => (await world.server.db.selectFrom("enrollmentKeys").select("id").execute()).length;
  const before = await count();
  writeFileSync(join(rmm.dir, "taken"), "");
  const create = ["enrollment-keys", "create", "--org", "acme-west"];
  const list = await rmm.run([...create, "-f", listOf("x", [{ name: "X" }]), "--secret-dir", join(rmm.dir, "taken")]);
  expect(list).toMatchObject({ code: 2, stdout: "" });
  expect(await rmm.run([...create, "--name", "X", "--secret-dir", "d"])).toMatchObject({ code: 2, stdout: "" });
  expect(await count()).toBe(before);
});
