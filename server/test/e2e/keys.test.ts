import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { databases, startTestServer, type TestServer } from "../harness.ts";
import { type RotationWorld, rotationWorld } from "./key-rotation-world.ts";
import { type Rmm, rmmHere, rmmProcess } from "./rmm-process.ts";

describe.each(databases)("keys of every kind, on %s", (database) => {
  let server: TestServer;
  let world: RotationWorld;
  let rmm: Rmm;

  const env = () => ({ RMM_SERVER: world.server.url, RMM_TOKEN: world.admin.token });
  beforeAll(async () => {
    server = await startTestServer(database);
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    world = await rotationWorld(server);
    rmm = rmmHere(env());
  });
  afterEach(() => rmm?.close());

  const ids = (json: string): string[] => (JSON.parse(json) as { id: string }[]).map(({ id }) => id).toSorted();
  const idsOf = (...names: (keyof RotationWorld["keys"])[]) => names.map((name) => world.keys[name].id).toSorted();
  const secretsIn = (folder: string): string[] =>
    readdirSync(join(rmm.dir, folder)).map((name) => readFileSync(join(rmm.dir, folder, name), "utf8").trim());
  const journals = () => {
    const folder = join(rmm.dir, "config", "rotations");
    return existsSync(folder) ? readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8")) : [];
  };

  it("one list has all kinds, and filters by age, expiry, kind and organization", async () => {
    const list = async (...flags: string[]) => {
      const ran = await rmm.run(["keys", "list", "--json", ...flags]);
      expect(ran.code, ran.stderr).toBe(0);
      return ids(ran.stdout);
    };
    expect(await list()).toEqual(idsOf("api", "service", "partner", "enrollment", "young"));
    expect(await list("--revoked")).toContain(world.keys.revoked.id);
    expect(await list("--older-than", "90d")).toEqual(idsOf("api", "service", "partner", "enrollment"));
    expect(await list("--older-than", "101d")).toEqual([]);
    expect(await list("--expiring", "14d")).toEqual(idsOf("enrollment"));
    expect(await list("--kind", "partner-key")).toEqual(idsOf("partner"));
    expect(await list("--org", "acme-west")).toEqual(idsOf("api", "service", "enrollment", "young"));
    const all = await rmm.run(["keys", "list", "--revoked", "--json"]);
    for (const { secret } of Object.values(world.keys)) expect(all.stdout).not.toContain(secret);
    expect(all.stdout).not.toMatch(/[0-9a-f]{64}/);
    const wrong = await rmm.run(["keys", "list", "--json=id,nmae"]);
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toContain("name");
  });

  it("rotates old keys once: every old secret stops working, every new one is in its own file", async () => {
    const old = ["keys", "rotate", "--older-than", "90d"];
    const plan = await rmm.run([...old, "--dry-run", "--json"]);
    expect(plan.code, plan.stderr).toBe(0);
    expect(ids(plan.stdout)).toEqual(idsOf("api", "service", "partner", "enrollment"));
    expect(await world.ownerOf(world.keys.api.secret)).toBeDefined();

    const refused = await rmm.run([...old, "--secret-dir", "new"]);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("--yes");
    const nowhere = await rmm.run([...old, "--yes"]);
    expect(nowhere).toMatchObject({ code: 2, stdout: "" });
    expect(nowhere.stderr).toContain("--secret-dir");
    expect(await world.ownerOf(world.keys.api.secret)).toBeDefined();

    const ran = await rmmProcess(env(), rmm.dir).run([...old, "--secret-dir", "new", "--yes", "--json"]);
    expect(ran.code, ran.stderr).toBe(0);
    const secrets = secretsIn("new");
    const owners = (await Promise.all(secrets.map(world.ownerOf))).map((owner) => owner?.split(" ")[0]).toSorted();
    expect(owners).toEqual(["api-key", "enrollment-key", "partner-key", "service-principal"]);
    for (const name of ["api", "service", "partner", "enrollment"] as const) {
      expect(await world.ownerOf(world.keys[name].secret), name).toBeUndefined();
    }
    for (const secret of secrets) expect(ran.stdout + ran.stderr).not.toContain(secret);
    for (const name of readdirSync(join(rmm.dir, "new"))) {
      expect(statSync(join(rmm.dir, "new", name)).mode & 0o777).toBe(0o600);
    }
    expect(journals()).toEqual([]);
    const again = await rmm.run([...old, "--secret-dir", "new", "--yes", "--json"]);
    expect(again).toMatchObject({ code: 0, stdout: "[]\n" });
    expect(secretsIn("new")).toEqual(secrets);
  });

  it("rotating one key, or a service principal by its id, prints only the secret on stdout", async () => {
    const one = await rmm.run(["keys", "rotate", world.keys.young.id, "--yes"]);
    expect(one.code, one.stderr).toBe(0);
    expect(await world.ownerOf(one.stdout.trim())).toBe(`api-key ${world.keys.young.id}`);
    expect(one.stderr).not.toContain(one.stdout.trim());
    const two = await rmm.run(["keys", "rotate", world.principals.service, "--yes"]);
    expect(await world.ownerOf(two.stdout.trim())).toMatch(/^service-principal /);
    const masked = await rmm.run(["keys", "rotate", world.keys.young.id, "--yes"], {
      env: { GITHUB_ACTIONS: "true" },
    });
    expect(masked.stderr.split("\n")[0]).toBe(`::add-mask::${masked.stdout.trim()}`);
  });

  it("some fail and the others continue: exit 9, and each item reports its outcome", async () => {
    const { revoked, api } = world.keys;
    const ran = await rmm.run(["keys", "rotate", revoked.id, api.id, "--secret-dir", "new", "--yes", "--json"]);
    expect(ran.code).toBe(9);
    const outcomes = JSON.parse(ran.stdout).map((one: { id: string; outcome: string; error?: { code: string } }) => [
      one.id,
      one.outcome,
      one.error?.code,
    ]);
    expect(outcomes).toEqual([
      [revoked.id, "failed", "API_KEY_NOT_ACTIVE"],
      [api.id, "done", undefined],
    ]);
    expect(journals()).toEqual([]);
    const unknown = await rmm.run(["keys", "rotate", api.id, world.orgId, "--secret-dir", "new2", "--yes"]);
    expect(unknown).toMatchObject({ code: 3, stdout: "" });
    expect(unknown.stderr).toContain(world.orgId);
  });

  it("a secret that cannot be delivered stops the run, and --resume delivers the same secret", async () => {
    const failing = ["keys", "rotate", "--older-than", "90d", "--secret-command", "exit 3", "--yes", "--json"];
    const ran = await rmm.run(failing);
    expect(ran.code).toBe(9);
    const results = JSON.parse(ran.stdout) as { id: string; outcome: string; error: { code: string } }[];
    expect(results.map(({ outcome }) => outcome)).toEqual(["failed", "skipped", "skipped", "skipped"]);
    expect(results[0]?.error.code).toBe("SECRET_NOT_DELIVERED");
    expect(ran.stderr).toContain("rmm keys rotate --resume");
    const [journal] = journals();
    expect(journal).toContain(results[0]?.id);
    const material = async () =>
      JSON.stringify([
        await world.server.db.selectFrom("apiKeys").select("keyHash").orderBy("id").execute(),
        await world.server.db.selectFrom("partnerServicePrincipalKeys").select("keyHash").orderBy("id").execute(),
        await world.server.db.selectFrom("enrollmentKeys").select("keyHash").orderBy("id").execute(),
      ]);
    const before = await material();

    const resumed = await rmm.run(["keys", "rotate", "--resume", "--secret-file", "late.key", "--yes", "--json"]);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(ids(resumed.stdout)).toEqual([results[0]?.id]);
    const secret = readFileSync(join(rmm.dir, "late.key"), "utf8").trim();
    expect(await world.ownerOf(secret)).toContain(results[0]?.id as string);
    expect(journal).not.toContain(secret);
    expect(await material(), "nothing was rotated again").toBe(before);
    expect(journals()).toEqual([]);
  });

  it("the command for secrets gets one on stdin, and none of this run's credentials", async () => {
    writeFileSync(
      join(rmm.dir, "keep.sh"),
      `cat > "got-$RMM_KEY_KIND"; env | tr '\\0' '\\n' >> env.txt; tr '\\0' ' ' < /proc/$$/cmdline >> argv.txt\n`,
    );
    const argv = ["keys", "rotate", "--older-than", "90d", "--secret-command", "sh keep.sh", "--yes"];
    const ran = await rmmProcess(env(), rmm.dir).run(argv);
    expect(ran.code, ran.stderr).toBe(0);
    const told = readFileSync(join(rmm.dir, "env.txt"), "utf8") + readFileSync(join(rmm.dir, "argv.txt"), "utf8");
    expect(told).toContain("RMM_KEY_NAME=rollout");
    expect(told).not.toContain(world.admin.token);
    for (const kind of ["api-key", "service-principal", "partner-key", "enrollment-key"]) {
      const secret = readFileSync(join(rmm.dir, `got-${kind}`), "utf8").trim();
      expect(await world.ownerOf(secret)).toContain(kind);
      expect(told + ran.stdout + ran.stderr).not.toContain(secret);
    }
  });

  it("an existing file is never overwritten, and nothing is rotated", async () => {
    const rotate = ["keys", "rotate", "--older-than", "90d", "--secret-dir", "taken", "--yes"];
    const plan = JSON.parse((await rmm.run([...rotate, "--dry-run", "--json"])).stdout) as { sink: string }[];
    const path = join(rmm.dir, String(plan[2]?.sink).slice("file:".length));
    mkdirSync(join(rmm.dir, "taken"), { recursive: true });
    writeFileSync(path, "mine");
    const ran = await rmm.run(rotate);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain("exists");
    expect(readFileSync(path, "utf8")).toBe("mine");
    for (const name of ["api", "service", "partner", "enrollment"] as const) {
      expect(await world.ownerOf(world.keys[name].secret), name).toBeDefined();
    }
  });

  it("--all needs the number of keys; a used-up enrollment key is skipped, because rotation would make it usable again", async () => {
    const { server, keys } = world;
    await server.db
      .updateTable("enrollmentKeys")
      .set({ usageCount: 25 })
      .where("id", "=", keys.enrollment.id)
      .execute();
    const all = ["keys", "rotate", "--all", "--secret-dir", "all"];
    expect((await rmm.run([...all, "--yes"])).code).toBe(2);
    expect((await rmm.run([...all, "--confirm=5"])).code).toBe(2);
    const ran = await rmm.run([...all, "--confirm=4", "--json"]);
    expect(ran.code, ran.stderr).toBe(0);
    expect(await world.ownerOf(keys.enrollment.secret)).toBeDefined();
    expect(ran.stderr).toContain("passed over");
    const named = await rmm.run(["keys", "rotate", keys.enrollment.id, "--expires-in", "30d", "--yes"]);
    expect(named.code, named.stderr).toBe(0);
    const row = await server.db
      .selectFrom("enrollmentKeys")
      .select(["usageCount", "expiresAt"])
      .where("id", "=", keys.enrollment.id)
      .executeTakeFirstOrThrow();
    expect(row.usageCount).toBe(0);
    expect(Date.parse(row.expiresAt)).toBeGreaterThan(Date.now() + 29 * 86_400_000);
  });

  it("keys with the same name and creation time have separate files", async () => {
    const body = { orgId: world.orgId, name: "twin", scopes: [] };
    const make = async () =>
      (await world.server.request("POST", "/api-keys", { token: world.admin.token, body })).body.id;
    const twins = [await make(), await make()];
    const ran = await rmm.run(["keys", "rotate", ...twins, "--secret-dir", "twins", "--yes"]);
    expect(ran.code, ran.stderr).toBe(0);
    const owners = await Promise.all(secretsIn("twins").map(world.ownerOf));
    expect(owners.toSorted()).toEqual(twins.map((id) => `api-key ${id}`).toSorted());
  });

  it("a rotation that would print no secret, or cannot print at all, is refused before it is sent", async () => {
    const { api, young } = world.keys;
    const rotate = ["keys", "rotate", api.id, young.id, "--yes"];
    for (const wrong of ["--json=id,outcome", "--json=idd", "--columns=idd", "--jq=.[].id", "--jq=.["]) {
      const refused = await rmm.run([...rotate, wrong, ...(wrong.startsWith("--c") ? ["--secret-dir", "new"] : [])]);
      expect(refused, wrong).toMatchObject({ code: 2, stdout: "" });
    }
    expect(await world.ownerOf(api.secret)).toBeDefined();
    expect(journals()).toEqual([]);
  });

  it("a run that fetches the secret of a key does not rotate it again, even under another row id", async () => {
    for (const name of ["service", "partner"] as const) {
      await rmm.run(["keys", "rotate", world.keys[name].id, "--secret-command", "exit 1", "--yes"]);
      const kind = name === "partner" ? "partner-key" : "service-principal";
      const all = ["keys", "rotate", "--all", "--kind", kind, "--secret-dir", name, "--confirm=1", "--json"];
      const ran = await rmm.run(all);
      expect(ran.code, ran.stderr).toBe(0);
      expect(JSON.parse(ran.stdout)).toHaveLength(1);
      expect(await world.ownerOf(secretsIn(name)[0] as string), name).toBeDefined();
    }
  });

  it("a dry run is refused when the real run would be; two paths of one journal are the same journal", async () => {
    const { api } = world.keys;
    const rotate = ["keys", "rotate", api.id, "--secret-file", "there.key"];
    writeFileSync(join(rmm.dir, "there.key"), "mine");
    expect(await rmm.run([...rotate, "--dry-run"])).toMatchObject({ code: 2, stdout: "" });
    const locks = join(rmm.dir, "config", "locks");
    const { start } = rmmProcess(env(), rmm.dir);
    const spellings = ["j", "./j", join(rmm.dir, "j")].map((journal) =>
      start([
        "keys",
        "rotate",
        api.id,
        "--yes",
        "--journal",
        journal,
        "--secret-command",
        `ls ${locks} >&2; sleep 0.3`,
      ]),
    );
    const seen = (await Promise.all(spellings.map(({ done }) => done))).map(({ stderr }) => stderr);
    expect(new Set(seen.map((text) => /rotation-\w+\.lock/.exec(text)?.[0])).size).toBe(1);
  });

  it("a replayed answer is not delivered if the key was rotated again since", async () => {
    await rmm.run(["keys", "rotate", world.keys.api.id, "--secret-command", "exit 1", "--yes"]);
    const other = await world.server.request("POST", `/api-keys/${world.keys.api.id}/rotate`, {
      token: world.admin.token,
    });
    const resumed = await rmm.run(["keys", "rotate", "--resume", "--secret-file", "old.key", "--yes", "--json"]);
    expect(resumed.code).toBe(6);
    expect(JSON.parse(resumed.stdout)[0].error.code).toBe("ROTATED_SINCE");
    expect(existsSync(join(rmm.dir, "old.key"))).toBe(false);
    expect(await world.ownerOf(other.body.key)).toBeDefined();
    expect(journals()).toEqual([]);
  });

  it("a day later the idempotency key has expired: every kind is rotated again, and the secret is delivered", async () => {
    let token = world.admin.token;
    for (const name of ["partner", "api", "service", "enrollment"] as const) {
      const lost = ["keys", "rotate", world.keys[name].id, "--secret-command", "exit 1", "--yes"];
      await rmm.run(lost, { env: { RMM_TOKEN: token } });
      world.server.clock.advance(25 * 3_600_000);
      const admin = await world.server.signIn({ role: "Partner Admin", partnerId: world.partnerId });
      const late = ["keys", "rotate", "--resume", "--secret-file", `${name}.key`, "--yes"];
      const ran = await rmm.run(late, { env: { RMM_TOKEN: admin.token } });
      expect(ran.code, ran.stderr).toBe(0);
      expect(await world.ownerOf(readFileSync(join(rmm.dir, `${name}.key`), "utf8").trim()), name).toBeDefined();
      token = admin.token;
    }
  });
});
