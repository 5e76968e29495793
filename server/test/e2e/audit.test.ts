import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PruneRecord, statementHash } from "#server/audit/anchor-format";
import { anchorSigner } from "#server/audit/anchor-signing";
import { anchorPublicKey } from "#server/audit/keeper";
import { databases, seedPartner, startTestServer, type TestServer } from "../harness.ts";
import { type Actor, actorOf, ways } from "./actors.ts";
import { type Rmm, rmmHere, rmmProcess } from "./rmm-process.ts";
import { placeOf, tamper } from "./tamper.ts";

const ENTRIES = 6;
const strangersKey = anchorSigner(Buffer.alloc(32, 7).toString("base64")).publicKey;

describe.each(databases)("proving the audit record, on %s", { timeout: 120_000 }, (database) => {
  let server: TestServer;
  let rmm: Rmm;
  let asProcess: Rmm;
  let publicKey: string;
  let orgId: string;
  let actors: Actor[];

  beforeAll(async () => {
    server = await startTestServer(database);
    const { partnerId, orgIds } = await seedPartner(server, "acme", ["acme-west", "acme-east"]);
    orgId = orgIds[0]!;
    const { token } = await server.signIn({ role: "Partner Admin", partnerId });
    const env = { RMM_SERVER: server.url, RMM_TOKEN: token };
    rmm = rmmHere(env);
    asProcess = rmmProcess(env, rmm.dir);
    actors = ways.map((way) => actorOf(way, server.url, token));
    for (let index = 0; index < ENTRIES; index += 1)
      await actors[index % 2]!.call("sites", "create", { body: { orgId, name: `Site ${index + 1}` } });
    await server.settled();
    publicKey = anchorPublicKey(server.services) as string;
  });
  afterAll(async () => {
    for (const actor of actors) actor.close();
    rmm.close();
    await server.stop();
  });

  const verify = (...more: string[]) => rmm.run(["audit", "verify", ...more]);
  const ofOrg = (...more: string[]) => verify("--org", "acme-west", ...more);
  const exitCode = async (...more: string[]) =>
    (await asProcess.run(["audit", "verify", "--org", "acme-west", ...more])).code;
  const bundle = (name: string) =>
    rmm.run(["server", "audit-bundle", "--org", orgId, "--output", name, ...placeOf(server)]);
  const at = (name: string) => join(rmm.dir, name);

  it("a site created through each interface is in the record, read through each", async () => {
    for (const actor of actors) {
      const query = { orgId, action: "site.create" };
      const entries = await actor.call("auditLogs", "logs", { query });
      expect(entries.map((entry: { resource: { name: string } }) => entry.resource.name).toSorted()).toEqual(
        Array.from({ length: ENTRIES }, (_, index) => `Site ${index + 1}`),
      );
    }
  });

  it("an untouched chain verifies: exit 0, as text and as JSON", async () => {
    const read = await ofOrg();
    expect(read).toMatchObject({ code: 0 });
    expect(await exitCode()).toBe(0);
    expect(read.stdout).toMatch(/^OK {2}organization acme-west\n {2}entries {2}6 checked, positions 1 to 6\n/);
    const report = JSON.parse((await ofOrg("--json")).stdout);
    expect(report).toMatchObject({ verdict: "ok", ok: true, orgId, breakCount: 0, findings: [] });
    for (const actor of actors)
      expect(await actor.call("auditLogs", "verify", { body: { orgId } })).toMatchObject({ ok: true, orgId });
  });

  it("a bundle says where it was written; a slug that two partners have is refused with the ids of both", async () => {
    const made = await bundle("told.ndjson");
    expect(made).toMatchObject({ code: 0 });
    expect(made.stderr).toMatch(
      new RegExp(`^\\d+ lines of the organization chain ${orgId} in /.*/told\\.ndjson$`, "m"),
    );
    const other = await seedPartner(server, "zenith", ["acme-west"]);
    const twice = await rmm.run(["server", "audit-bundle", "--org", "acme-west", "-o", "x", ...placeOf(server)]);
    expect(twice.code).toBe(2);
    for (const part of ["More than one organization is called acme-west", orgId, other.orgIds[0]!, "zenith"])
      expect(twice.stderr).toContain(part);
    const none = await rmm.run(["server", "audit-bundle", "--org", "nobody", "-o", "x", ...placeOf(server)]);
    expect([none.code, none.stderr]).toEqual([3, expect.stringContaining("There is no organization nobody")]);
  });

  it("--all reports every readable chain, the caller's own first", async () => {
    const { code, stdout } = await verify("--all", "--json");
    expect(code).toBe(0);
    const reports = JSON.parse(stdout) as { ok: boolean; chain: { kind: string; name: string } }[];
    expect(reports.map(({ ok, chain }) => [chain.kind, chain.name, ok])).toEqual([
      ["partner", "acme", true],
      ["organization", "acme-east", true],
      ["organization", "acme-west", true],
    ]);
    expect(await verify("--system")).toMatchObject({ code: 5, stdout: "" });
  });

  it("anchors stored elsewhere agree; exit 12 if a required anchor is missing or of an unknown key", async () => {
    await server.settled();
    copyFileSync(server.services.config.anchorFile, at("kept.ndjson"));
    const strict = ["--anchor-file", "kept.ndjson", "--require-anchor", "--public-key"];
    const good = await ofOrg(...strict, publicKey);
    expect(good.code, good.stdout).toBe(0);
    expect(good.stderr).toBe("");
    const unknown = await ofOrg(...strict, strangersKey);
    expect(unknown.code).toBe(12);
    expect(await exitCode(...strict, strangersKey)).toBe(12);
    expect(unknown.stdout).toMatch(/^NOT PROVABLE/);
    writeFileSync(at("none.ndjson"), "");
    const none = await ofOrg("--anchor-file", "none.ndjson", "--require-anchor", "--json");
    expect(none.code).toBe(12);
    expect(JSON.parse(none.stdout).findings).toMatchObject([{ kind: "unanchored" }]);
  });

  it("a bundle is verified offline without signing in; exit 12 if it is cut off", async () => {
    await server.settled();
    expect(await bundle("good.ndjson")).toMatchObject({ code: 0, stdout: "" });
    expect(statSync(at("good.ndjson")).mode & 0o777).toBe(0o600);
    expect((await bundle("good.ndjson")).code).toBe(2);
    const offline = { env: { RMM_TOKEN: "", RMM_SERVER: "http://127.0.0.1:9" } };
    const argv = ["audit", "verify", "--bundle", "good.ndjson", "--public-key", publicKey];
    expect(await rmm.run([...argv, "--require-anchor=any"], offline)).toMatchObject({ code: 0 });
    // The verifications above wrote entries that no anchor covers yet.
    const strict = await rmm.run([...argv, "--require-anchor", "--json"], offline);
    expect(strict.code).toBe(12);
    expect(JSON.parse(strict.stdout)).toMatchObject({ verdict: "not_provable", findings: [{ kind: "unanchored" }] });
    expect((await rmm.run([...argv, "--require-anchor=head"], offline)).code).toBe(12);
    expect((await rmm.run([...argv, "--require-anchor=some"], offline)).code).toBe(2);
    const lines = readFileSync(at("good.ndjson"), "utf8").split("\n");
    writeFileSync(at("cut.ndjson"), lines.slice(0, -4).join("\n"));
    expect(await verify("--bundle", "cut.ndjson")).toMatchObject({ code: 12, stdout: "" });
    const altered = lines.map((line) => (line.includes('"entry"') ? line.replace("Site 3", "Site 9") : line));
    writeFileSync(at("altered.ndjson"), altered.join("\n"));
    const broken = await verify("--bundle", "altered.ndjson", "--json");
    expect(broken.code).toBe(11);
    expect(JSON.parse(broken.stdout).findings).toMatchObject([{ kind: "content_mismatch", chainSeq: 3 }]);
  });

  it("entries cut from a bundle: exit 11 with a forged prune record, 12 without a record", async () => {
    const lines = readFileSync(at("good.ndjson"), "utf8").trim().split("\n");
    const isEntry = (line: string) => line.startsWith('{"type":"entry"');
    const gone = lines.filter(isEntry).slice(0, 4);
    const last = JSON.parse(gone[3]!).entry;
    const anchors = lines.filter((line) => line.startsWith('{"type":"anchor"')).map((line) => JSON.parse(line).anchor);
    const cut = lines
      .filter((line) => !gone.includes(line))
      .map((line) => line.replace(/"entries":(\d+)/, (_, count) => `"entries":${Number(count) - 4}`));
    const unsigned: PruneRecord = {
      ...{ type: "prune", chainKind: "organization", chainId: orgId, anchorSeq: anchors.length + 1 },
      ...{ prevAnchorHash: statementHash(anchors.at(-1)), signature: null, signingKeyId: null },
      ...{ prunedThroughSeq: 4, prunedThroughHash: last.chainHash, prunedCount: 4 },
      ...{ cutoff: "2026-03-02T10:00:00.000Z", prunedAt: "2026-03-04T00:00:00.000Z" },
    };
    const verdicts = async (name: string, record: object | undefined, key: string) => {
      const at3 = record === undefined ? [] : [JSON.stringify({ type: "prune", prune: record })];
      writeFileSync(
        at(name),
        [...cut.slice(0, 1 + anchors.length), ...at3, ...cut.slice(1 + anchors.length)].join("\n"),
      );
      const ran = await verify("--bundle", name, "--public-key", key, "--json");
      const { findings } = JSON.parse(ran.stdout) as { findings: { kind: string; chainSeq: number }[] };
      return [ran.code, findings.map(({ kind, chainSeq }) => `${kind}@${chainSeq}`)];
    };
    expect(await verdicts("unexplained.ndjson", undefined, publicKey)).toEqual([12, ["prefix_unexplained@5"]]);
    expect(await verdicts("unsigned.ndjson", unsigned, publicKey)).toEqual([11, ["prefix_unexplained@5"]]);
    const foreign = anchorSigner(Buffer.alloc(32, 7).toString("base64")).sign(unsigned);
    // A signature of an unknown key proves nothing either way.
    expect((await verdicts("foreign.ndjson", foreign, publicKey))[0]).toBe(12);
    expect((await verdicts("foreign.ndjson", { ...foreign, prunedCount: 3 }, strangersKey))[0]).toBe(11);
    const elsewhere = { ...unsigned, chainId: "0190c0de-0000-7000-8000-00000000000b" };
    expect((await verdicts("elsewhere.ndjson", elsewhere, publicKey))[0]).toBe(11);
  });

  it("a missing anchor file does not fail verification, and is complete once it is back", async () => {
    const file = server.services.config.anchorFile;
    renameSync(file, `${file}.away`);
    mkdirSync(file);
    const during = await ofOrg("--json");
    expect([during.code, JSON.parse(during.stdout).anchored.through]).toEqual([
      0,
      JSON.parse(during.stdout).head.chainSeq,
    ]);
    rmSync(file, { recursive: true });
    renameSync(`${file}.away`, file);
    await server.settled();
    copyFileSync(file, at("before.ndjson"));
    expect((await ofOrg()).code).toBe(0);
    const seqs = (name: string) =>
      readFileSync(name, "utf8")
        .split("\n")
        .filter((line) => line.includes(orgId))
        .map((line) => JSON.parse(line).anchorSeq);
    const complete = seqs(file);
    expect(complete).toEqual(complete.map((_, index) => index + 1));
    expect(complete.length).toBe(seqs(at("before.ndjson")).length + 2);
  });

  it("an entry altered in the database is found at its position: exit 11, online and in a bundle", async () => {
    const third = `id = (select audit_id from audit_chain where chain_id = '${orgId}' and chain_seq = 3)`;
    await tamper(server, `update audit_logs set resource_name = 'Nothing happened here' where ${third}`);
    const read = await ofOrg();
    expect(read.code).toBe(11);
    expect(await exitCode()).toBe(11);
    expect(read.stdout).toMatch(/^BROKEN {2}organization acme-west\n/);
    expect(read.stdout).toContain("at position 3: the entry was altered after it was sealed");
    const plain = await rmm.run(["audit-logs", "verify", "--org", "acme-west", "--json=ok"]);
    expect([plain.code, JSON.parse(plain.stdout)]).toEqual([11, { ok: false }]);
    expect((await bundle("tampered.ndjson")).code).toBe(0);
    expect(await verify("--bundle", "tampered.ndjson")).toMatchObject({ code: 11 });
    const all = await verify("--all", "--json=chain,verdict");
    const reports = JSON.parse(all.stdout) as { chain: { name: string }; verdict: string }[];
    expect([all.code, Object.fromEntries(reports.map(({ chain, verdict }) => [chain.name, verdict]))]).toEqual([
      11,
      { acme: "ok", "acme-east": "ok", "acme-west": "broken" },
    ]);
    await tamper(server, `update audit_logs set resource_name = 'Site 3' where ${third}`);
    expect((await ofOrg()).code).toBe(0);
  });

  it("the chain of a deleted organization verifies by id and with --all; exit 11 from both if a whole chain is gone", async () => {
    const made = await actors[0]!.call("organizations", "create", { body: { name: "Gone", slug: "gone" } });
    await server.settled();
    expect((await verify("--org", made.id)).code).toBe(0);
    await actors[0]!.call("organizations", "remove", { params: { id: made.id } });
    await server.settled();
    expect((await verify("--org", made.id)).code).toBe(0);
    const all = async () => {
      const ran = await verify("--all", "--json");
      const reports = JSON.parse(ran.stdout) as { verdict: string; chain: { id: string } }[];
      return [ran.code, reports.find(({ chain }) => chain.id === made.id)?.verdict];
    };
    expect(await all()).toEqual([0, "ok"]);
    await server.settled();
    await tamper(
      server,
      `delete from audit_logs where org_id = '${made.id}'`,
      `delete from audit_chain where chain_id = '${made.id}'`,
      `delete from audit_anchors where chain_id = '${made.id}'`,
    );
    expect(await all()).toEqual([11, "broken"]);
    expect((await verify("--org", made.id)).code).toBe(11);
    expect(await rmm.run(["audit-logs", "verify"])).toMatchObject({ code: 1, stdout: "" });
  });

  it("removal of the newest entries with all anchors of the server is found by anchors stored elsewhere: exit 11", async () => {
    await server.settled();
    copyFileSync(server.services.config.anchorFile, at("kept.ndjson"));
    const cut = `chain_id = '${orgId}' and chain_seq > 4`;
    await tamper(
      server,
      `delete from audit_logs where id in (select audit_id from audit_chain where ${cut})`,
      `delete from audit_chain where ${cut}`,
      `delete from audit_anchors where chain_id = '${orgId}'`,
    );
    rmSync(server.services.config.anchorFile);
    const found = await ofOrg("--anchor-file", "kept.ndjson", "--json");
    expect(found.code).toBe(11);
    const { ok, findings } = JSON.parse(found.stdout) as { ok: boolean; findings: { kind: string }[] };
    expect(ok).toBe(false);
    expect(findings.map(({ kind }) => kind)).toContain("seq_regressed");
  });
});
