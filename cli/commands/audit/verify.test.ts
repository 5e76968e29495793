import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { refusal, type Stub } from "#sdk/stub-server";
import { ids, stubApi, writesOf } from "../../test-api.ts";
import { NOW, testCommand } from "../../test-shell.ts";

const PARTNER = "99999999-9999-4999-8999-999999999999";
const whole = {
  ...{ ok: true, entriesChecked: 1, first: { chainSeq: 1, prevHash: null }, prunedPrefix: false, breakCount: 0 },
  ...{ orgId: null, partnerId: null, head: { chainSeq: 1, chainHash: "ab".repeat(32) }, breaks: [] },
  anchors: { checked: 0, signedCount: 0, latest: null, problems: [] },
  ...{ verifiedAt: "2026-03-02T09:00:00.000Z", durationMs: 1 },
};

const command = testCommand();
let stub: Stub;
/** Answers of the server to verifications, in turn; then the chain is whole. */
let answers: { status: number; body: object; headers?: Record<string, string> }[];

/** What the server lists of anchors, in turn; then nothing. */
let listed: object[][];
let published: string[];

beforeEach(async () => {
  answers = [];
  listed = [];
  published = [];
  stub = await stubApi({
    "GET /users/me": () => ({ body: { scope: "partner", partnerId: PARTNER, orgId: null } }),
    "GET /orgs/partners/me": () => ({ body: { id: PARTNER, name: "Acme\u001b[31m", slug: "acme" } }),
    "POST /audit-logs/verify": () => answers.shift() ?? { body: whole },
    [`GET /audit-logs/logs/${ids.contoso}/proof`]: () =>
      refusal(409, "INVALID_STATE", { details: { status: "not_anchored" } }),
    "GET /audit-logs/anchors": () => ({
      body: {
        data: listed.shift() ?? [],
        pagination: { page: 1, limit: 100, total: 0 },
        publicKey: null,
        publicKeys: published,
      },
    }),
  });
});
afterEach(() => stub.close());

const verify = (argv: readonly string[], options: { tty?: boolean; env?: Record<string, string> } = {}) =>
  command.run(["audit", "verify", ...argv], {
    ...options,
    env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana", ...options.env },
  });
const asked = () => writesOf(stub).map(({ body }) => body);

describe("which chain", () => {
  it("is the caller's own, or the one that is named, by slug too", async () => {
    await verify([]);
    await verify(["--org", "contoso-dental"]);
    await verify(["--partner", "acme"]);
    await verify(["--system"]);
    await verify([], { env: { RMM_ORG: "fabrikam" } });
    expect(asked()).toEqual([
      { partnerId: PARTNER },
      { orgId: ids.contoso },
      { partnerId: PARTNER },
      { chain: "system" },
      { orgId: ids.fabrikam },
    ]);
  });

  it("is only one, and is shown instead of asked for with --dry-run", async () => {
    for (const flags of [
      ["--system", "--all"],
      ["--org", "fabrikam", "--partner", "acme"],
      ["--all", "--bundle", "b"],
    ])
      expect(await verify(flags)).toMatchObject({ code: 2, stdout: "" });
    const dry = await verify(["--org", "fabrikam", "--dry-run", "--json"]);
    expect(JSON.parse(dry.stdout)).toMatchObject({ method: "POST", body: { orgId: ids.fabrikam } });
    expect(asked()).toEqual([]);
  });

  it("says which flag names an anchor file that cannot be read", async () => {
    const ran = await verify(["--anchor-file", "no-such.ndjson"]);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining("--anchor-file: cannot read no-such.ndjson")]);
    expect(writesOf(stub)).toEqual([]);
  });

  it("names a bundle that cannot be read as it was typed", async () => {
    const argument = await verify(["no-such.gz"]);
    expect([argument.code, argument.stderr]).toEqual([2, expect.stringContaining("rmm: Cannot read no-such.gz")]);
    const flag = await verify(["--bundle", "no-such.gz"]);
    expect([flag.code, flag.stderr]).toEqual([2, expect.stringContaining("--bundle: cannot read no-such.gz")]);
  });

  it("says of a packed bundle that it is damaged or cut off, in words of its own", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rmm-packed-"));
    const path = join(folder, "b.ndjson.gz");
    const packed = gzipSync('{"type":"bundle"}\n'.repeat(9));
    const said = async (bytes: Buffer) => {
      writeFileSync(path, bytes);
      const { code, stderr } = await verify([path]);
      return [code, /cannot be judged: (.*?)[.\n]/.exec(stderr)?.[1]];
    };
    const flipped = Buffer.from(packed);
    flipped[12]! ^= 0xff;
    expect(await said(flipped)).toEqual([12, "the file is damaged: it is not what gzip wrote"]);
    expect(await said(packed.subarray(0, 15))).toEqual([12, "the file is cut off"]);
    rmSync(folder, { recursive: true, force: true });
  });

  it("of an entry that no anchor covers yet says how one comes about", async () => {
    const ran = await command.run(["audit", "prove", ids.contoso], {
      env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" },
    });
    expect(ran.stderr).toMatch(/No anchor covers it yet: they are taken hourly, and `rmm audit verify`/);
  });

  it("names the file of --trust that holds no key of anchors, and shows no empty default in its help", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rmm-trust-"));
    const path = join(folder, "none.pub");
    writeFileSync(path, "no key\n");
    const ran = await command.run(["audit", "verify", "--bundle", "absent", "--trust", path]);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(`--trust: ${path} holds what is no Ed25519`)]);
    expect(ran.stderr).not.toContain("--public-key");
    expect((await command.run(["audit", "verify", "--help"])).stdout).not.toContain("default: []");
    rmSync(folder, { recursive: true, force: true });
  });

  it("prints the public keys of anchors, one a line, as --trust takes them", async () => {
    published = ["KEY-ONE", "KEY-TWO"];
    const ran = await command.run(["api", "GET", "/audit-logs/anchors", "-f", "each=true", "--jq", ".publicKeys[]"], {
      env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" },
    });
    expect([ran.code, ran.stdout], ran.stderr).toEqual([0, "KEY-ONE\nKEY-TWO\n"]);
    expect((await command.run(["audit", "--help"])).stdout).toContain("-f each=true --jq '.publicKeys[]' >anchors.pub");
    const listed = await command.run(["audit", "anchors", "--json"], {
      env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" },
    });
    expect([listed.code, JSON.parse(listed.stdout)]).toEqual([0, []]);
  });

  it("needs a person: a key is refused here", async () => {
    const ran = await verify([], { env: { RMM_TOKEN: "svc_0123456789" } });
    expect(ran).toMatchObject({ code: 4, stdout: "" });
    expect(stub.seen).toEqual([]);
  });
});

describe("--all", () => {
  const limited = (seconds: number) => ({
    status: 429,
    body: { error: "Too many requests", code: "RATE_LIMITED" },
    headers: { "retry-after": String(seconds) },
  });

  it("reports what could not be verified beside what could: 9, and 11 when anything is broken", async () => {
    answers = [{ status: 403, body: { error: "No", code: "FORBIDDEN" } }];
    const ran = await verify(["--all", "--json=verdict,error"]);
    expect(ran.code).toBe(9);
    expect(JSON.parse(ran.stdout).map((one: { verdict: string }) => one.verdict)).toEqual([
      ...["not_verified", "ok", "ok", "ok"],
    ]);
    const found = { kind: "content_mismatch", chainSeq: 7, auditId: "x", expected: "a", actual: "b" };
    answers = [limited(0), { status: 200, body: { ...whole, ok: false, breakCount: 1, breaks: [found] } }];
    expect((await verify(["--all", "--wait"])).code).toBe(11);
  });

  it("writes each chain when it is done with --ndjson, and says on a pipe how far it is", async () => {
    let at = NOW;
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" };
    const now = () => (at += 2_000);
    const written: number[] = [];
    const stdout = new Writable({
      write(_chunk, _encoding, done) {
        written.push(asked().length);
        done();
      },
    });
    const ran = await command.run(["audit", "verify", "--all", "--ndjson"], { env, now, stdout });
    expect([ran.code, written.length]).toEqual([0, 4]);
    expect(written[0]).toBeLessThan(4);
    expect(ran.stderr).toMatch(/^\d of 4 chains verified$/m);
    expect((await verify(["--all"])).stderr, "a quick run says nothing").not.toContain("chains verified");
  });

  it("takes in the chains that anchors tell of and that no list of organizations has any more", async () => {
    const gone = "0190c0de-0000-7000-8000-0000000000ee";
    listed = [
      [
        { type: "none", chainKind: "organization", chainId: gone },
        { type: "none", chainKind: "organization", chainId: ids.contoso },
      ],
    ];
    const ran = await verify(["--all", "--json=chain"]);
    const chains = JSON.parse(ran.stdout).map(({ chain }: { chain: { id: string } }) => chain.id);
    expect(chains.filter((id: string) => id === gone)).toHaveLength(1);
    expect(chains.filter((id: string) => id === ids.contoso)).toHaveLength(1);
    expect(asked()).toContainEqual({ orgId: gone });
  });

  it("stops at the hourly limit and says what is left, or waits for it with --wait", async () => {
    answers = [{ status: 200, body: whole }, limited(3_600)];
    const cut = await verify(["--all"]);
    expect(cut.code).toBe(9);
    expect(cut.stdout.match(/^\S.*$/gm)).toEqual([
      "OK  partner Acme\\u001b[31m",
      ...["Contoso Dental", "Twins", "Twins"].map((name) => `NOT VERIFIED  organization ${name}`),
      "4 chains: 1 OK, 3 NOT VERIFIED; 1 entries checked",
    ]);
    expect(cut.stderr).toContain("3 of 4 chains were not verified");
    expect(cut.stderr).toContain("organization Contoso Dental, organization Twins, organization Twins");
    stub.seen.length = 0;
    expect((await verify(["--all", "--json=verdict"])).code).toBe(0);
    expect(asked().at(-1)).toEqual({ partnerId: PARTNER });
    answers = [limited(0)];
    expect((await verify(["--all", "--wait", "--json=verdict"])).code).toBe(0);
    answers = [limited(3_600)];
    expect((await verify(["--all", "--wait", "--timeout", "2s"])).code).toBe(9);
  });
});
