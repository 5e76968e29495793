import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "#sdk/client";
import { databases, seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { actorOf, type Refused, ways } from "./actors.ts";
import { type Rmm, rmmHere } from "./rmm-process.ts";

const KEY = /^[0-9a-f]{64}$/;

describe.each(databases)("minting an enrollment key, on %s", (database) => {
  let server: TestServer;
  let rmm: Rmm;
  let token: string;
  let orgId: string;

  beforeAll(async () => {
    server = await startTestServer(database);
    const { partnerId, orgIds } = await seedPartner(server, "acme", ["acme-west"]);
    orgId = orgIds[0]!;
    ({ token } = await server.signIn({ role: "Partner Admin", partnerId }));
    rmm = rmmHere({ RMM_SERVER: server.url, RMM_TOKEN: token });
  });
  afterAll(async () => {
    rmm.close();
    await server.stop();
  });

  const create = (name: string, ...more: string[]) => [
    ...["enrollment-keys", "create", "--org", "acme-west", "--name", name],
    ...more,
  ];
  const keysNamed = async (name: string) =>
    (await server.db.selectFrom("enrollmentKeys").select("id").where("name", "=", name).execute()).length;

  it("stdout is the key and a newline, stderr describes the key without it", async () => {
    const { code, stdout, stderr } = await rmm.run(create("plain", "--max-usage", "3"));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[0-9a-f]{64}\n$/);
    expect(stderr).toContain("maxUsage: 3");
    expect(stderr).not.toContain(stdout.trim());
  });

  it("--secret-file makes the file readable by the user only, and never overwrites a file", async () => {
    const ran = await rmm.run(create("filed", "--secret-file", "filed.key"));
    expect(ran).toMatchObject({ code: 0, stdout: "" });
    const path = join(rmm.dir, "filed.key");
    const key = readFileSync(path, "utf8");
    expect(key.trim()).toMatch(KEY);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(ran.stderr).not.toContain(key.trim());
    expect(await rmm.run(create("filed-2", "--secret-file", "filed.key"))).toMatchObject({ code: 2, stdout: "" });
    expect(readFileSync(path, "utf8")).toBe(key);
    expect(await keysNamed("filed-2")).toBe(0);
  });

  it("--if-not-exists creates one key however often a pipeline runs", async () => {
    expect((await rmm.run(create("once", "--if-not-exists"))).stdout.trim()).toMatch(KEY);
    const again = await rmm.run(create("once", "--if-not-exists", "--secret-file", "once.key"));
    expect(again).toMatchObject({ code: 0, stdout: "" });
    expect(existsSync(join(rmm.dir, "once.key"))).toBe(false);
    expect(await keysNamed("once")).toBe(1);
  });

  it("in a workflow the key is masked before anything else is printed", async () => {
    const { stdout, stderr } = await rmm.run(create("masked"), { env: { GITHUB_ACTIONS: "true" } });
    expect(stdout.trim()).toMatch(KEY);
    expect(stderr.split("\n").filter((line) => line.includes(stdout.trim()))).toEqual([`::add-mask::${stdout.trim()}`]);
  });

  it.each(ways)("through %s the key is shown once, and never by list or get", async (way) => {
    const actor = actorOf(way, server.url, token);
    const name = `shown once by ${way}`;
    const minted = await actor.call("enrollmentKeys", "create", { body: { orgId, name } });
    expect(minted.key).toMatch(KEY);
    const looked = await actor.call("enrollmentKeys", "get", { params: { id: minted.id } });
    const listed = await actor.call("enrollmentKeys", "list", { query: { orgId } });
    expect(looked).toMatchObject({ id: minted.id, name });
    expect(JSON.stringify([looked, listed])).not.toContain(minted.key);
    const unknown = actor.call("enrollmentKeys", "get", { params: { id: orgId } });
    await expect(unknown).rejects.toMatchObject({ code: "NOT_FOUND", status: 404 } satisfies Partial<Refused>);
    actor.close();
  });

  it("the same idempotency key gives the same secret, through the SDK and through rmm", async () => {
    const client = createClient({ baseUrl: server.url, credentials: { token } });
    const call = () =>
      client.enrollmentKeys.create({ body: { orgId, name: "repeated" } }, { idempotencyKey: "pipeline-run-1" });
    expect((await call()).key).toBe((await call()).key);
    expect(await keysNamed("repeated")).toBe(1);
    const typed = create("repeated by rmm", "--idempotency-key", "pipeline-run-2");
    expect((await rmm.run(typed)).stdout).toBe((await rmm.run(typed)).stdout);
    expect(await keysNamed("repeated by rmm")).toBe(1);
  });
});
