import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AuditWorld, auditWorlds, entriesOf } from "../test/audit-world.ts";
import { anchorFileIndex, appendLines, readStatements } from "./anchor-file.ts";
import { type Anchor, statementHash } from "./anchor-format.ts";
import { anchorSigner } from "./anchor-signing.ts";
import { anchorGrownChains, takeAnchor } from "./anchors.ts";
import { type ChainRef, chainHasher, contentHash, SYSTEM_CHAIN } from "./chain.ts";
import { listChains } from "./list-chains.ts";
import { merkleRoot } from "./merkle.ts";
import { listStatements } from "./statements.ts";
import { verifyInWorker } from "./verify-in-worker.ts";

const ORG = "0190c0de-0000-7000-8000-00000000000a";
const PARTNER = "0190c0de-0000-7000-8000-0000000000aa";
const chain: ChainRef = { kind: "organization", id: ORG };
const signer = anchorSigner(Buffer.alloc(32, 3).toString("base64"));
const keys = { publicKeys: [signer.publicKey] };

describe.each(["sqlite", "postgres"] as const)("anchors on %s", (dialect) => {
  let world: AuditWorld;
  let directory: string;
  let file: string;
  const pg = dialect === "postgres";
  const bytes = (hex: string) => (pg ? `'\\x${hex}'` : `'${hex}'`);
  // Soon after the entries were made, as in life.
  const now = () => new Date("2026-01-02T04:00:00.000Z");
  const options = { now, signer, keep: (anchor: Anchor) => appendLines(file, [anchor]) };
  const anchorAll = () => anchorGrownChains(world.db, options);
  const verify = async (of = chain) => {
    return world.verify(of, { ...keys, outside: await kept(of) });
  };
  const kept = async (of = chain) => (await readStatements(file, [of]))(of);
  const listAnchors = async () => (await listStatements(world.db, chain, { limit: 10, offset: 0 })) as Anchor[];
  const anchoredChains = async () => {
    const index = anchorFileIndex(file);
    await index.refresh();
    return index.chains();
  };
  const reasons = async () =>
    (await verify()).anchors.problems.map(({ anchorSeq, reason }) => `${reason}@${anchorSeq}`);

  beforeEach(async () => {
    world = await auditWorlds[dialect]();
    directory = mkdtempSync(join(tmpdir(), "rmm-anchors-"));
    file = join(directory, "anchors.jsonl");
  });
  afterEach(async () => {
    await world.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it("anchors each chain that grew, links and signs, and keeps a copy of mode 0600", async () => {
    const entries = entriesOf(5);
    await world.append([
      ...entries,
      ...entriesOf(1, { orgId: null, partnerId: PARTNER }),
      ...entriesOf(1, { orgId: null }),
    ]);
    expect(await anchorAll()).toHaveLength(3);
    expect(await anchorAll()).toEqual([]);
    const more = entriesOf(2);
    await world.append(more);
    const [second] = await anchorAll();
    const [newest, first] = await listAnchors();
    expect(newest).toEqual(second);
    expect(second).toMatchObject({
      anchorSeq: 2,
      headChainSeq: 7,
      entryCount: 7,
      merkleRoot: merkleRoot(more.map(contentHash)),
      prevAnchorHash: statementHash(first!),
      signingKeyId: signer.keyId,
    });
    expect(first?.merkleRoot).toBe(merkleRoot(entries.map(contentHash)));
    expect(await kept()).toEqual([first, newest]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await anchoredChains()).toHaveLength(3);
    const result = await verify();
    expect(result).toMatchObject({ ok: true, anchors: { checked: 2, signedCount: 2, latest: second, problems: [] } });
    const chains = [];
    for await (const found of listChains(world.db)) chains.push(found);
    expect(chains).toEqual([SYSTEM_CHAIN, { kind: "partner", id: PARTNER }, chain]);
    // As the product verifies: in a thread of its own.
    const results = [];
    const database = { database: world.database, anchorFile: file, ...keys };
    for await (const { ok, entriesChecked } of verifyInWorker(database, chains)) results.push([ok, entriesChecked]);
    expect(results).toEqual([
      [true, 1],
      [true, 1],
      [true, 7],
    ]);
  });

  it("anchors what a verification found, each head once, and an empty chain as empty", async () => {
    const empty = await takeAnchor(world.db, chain, { ...options, head: null });
    expect(empty).toMatchObject({ headChainSeq: 0, headChainHash: null, entryCount: 0, merkleRoot: null });
    await world.append(entriesOf(3));
    const { head } = await verify();
    await world.append(entriesOf(1));
    const anchor = await takeAnchor(world.db, chain, { ...options, head });
    expect(anchor).toMatchObject({ anchorSeq: 2, headChainSeq: 3, entryCount: 3, headChainHash: head?.chainHash });
    expect(await takeAnchor(world.db, chain, { ...options, head })).toBeNull();
    expect(await verify()).toMatchObject({ ok: true, entriesChecked: 4 });
  });

  it("finds a tail cut with its rows (C33)", async () => {
    await world.append(entriesOf(10));
    await anchorAll();
    await world.tamper(
      `delete from audit_logs where id in (select audit_id from audit_chain where chain_id = '${ORG}' and chain_seq > 6)`,
      `delete from audit_chain where chain_id = '${ORG}' and chain_seq > 6`,
    );
    const result = await verify();
    expect(result.ok).toBe(false);
    expect(result.breakCount).toBe(0);
    expect(result.anchors.problems).toEqual([
      { anchorSeq: 1, reason: "seq_regressed", anchoredHeadSeq: 10, liveHeadSeq: 6 },
    ]);
  });

  it("finds a whole chain erased, through its anchors and through the file", async () => {
    await world.append(entriesOf(4));
    await anchorAll();
    await world.tamper("delete from audit_logs", "delete from audit_chain");
    expect(await reasons()).toEqual(["seq_regressed@1"]);
    await world.tamper("delete from audit_anchors");
    expect(await reasons()).toEqual(["seq_regressed@1"]);
    expect(await anchoredChains()).toEqual([chain]);
  });

  it("finds a full re-chain by someone who knows the format, who also rewrote the anchors (C33)", async () => {
    await world.append(entriesOf(6));
    await anchorAll();
    await rechain();
    expect(await verify()).toMatchObject({ ok: false, breakCount: 0 });
    expect(await reasons()).toEqual(["hash_diverged@1"]);
    const live = (await verify()).head!;
    await world.tamper(
      `update audit_anchors set head_chain_hash = '${live.chainHash}', signature = null, signing_key_id = null`,
    );
    // The file still tells the truth, and the two contradict each other.
    expect(await reasons()).toEqual(expect.arrayContaining(["hash_diverged@1"]));
    rmSync(file);
    // Without any copy outside, an unsigned chain of anchors is all there is: nothing is left to find.
    expect(await verify()).toMatchObject({ ok: true });
  });

  it("refuses a forged, altered or stripped signature in the database alone", async () => {
    await world.append(entriesOf(3));
    await anchorAll();
    await world.append(entriesOf(3));
    await anchorAll();
    rmSync(file);
    await world.tamper("update audit_anchors set entry_count = 2 where anchor_seq = 1");
    expect(await reasons()).toEqual(expect.arrayContaining(["signature_invalid@1", "hash_diverged@2"]));
    await world.tamper(
      "update audit_anchors set entry_count = 3 where anchor_seq = 1",
      "update audit_anchors set signature = null, signing_key_id = null where anchor_seq = 2",
    );
    expect(await reasons()).toEqual(["signature_invalid@2"]);
    const forger = anchorSigner(Buffer.alloc(32, 4).toString("base64"));
    const [, first] = await listAnchors();
    const forged = forger.sign(first!);
    await world.tamper(
      `update audit_anchors set signature = '${forged.signature}', signing_key_id = '${forger.keyId}' where anchor_seq = 1`,
    );
    expect(await reasons()).toEqual(expect.arrayContaining(["signature_invalid@1"]));
  });

  it("accepts anchored entries that retention removed, and tells of other losses", async () => {
    const entries = entriesOf(10);
    await world.append(entries.slice(0, 4));
    await anchorAll();
    await world.append(entries.slice(4));
    await anchorAll();
    await world.prune(chain, entries[6]!.timestamp, { signer });
    expect(await verify()).toMatchObject({ ok: true, anchors: { problems: [] }, prunedPrefix: true });
    await world.prune(chain, "2030-01-01T00:00:00.000Z", { signer });
    expect(await verify()).toMatchObject({ ok: true, anchors: { problems: [] }, head: null });
  });

  it("finds an anchored entry missing from the middle", async () => {
    await world.append(entriesOf(5));
    await anchorAll();
    await world.append(entriesOf(5));
    await world.tamper(`delete from audit_chain where chain_id = '${ORG}' and chain_seq = 5`);
    expect(await reasons()).toEqual(["anchored_entry_missing@1"]);
  });

  it("finds a database put back to an older state (C38)", async () => {
    await world.append(entriesOf(5));
    const [older] = await anchorAll();
    await world.append(entriesOf(5));
    await anchorAll();
    // What a restore leaves: the older rows and anchors, and the newer file.
    await world.tamper(
      `delete from audit_logs where id in (select audit_id from audit_chain where chain_id = '${ORG}' and chain_seq > 5)`,
      `delete from audit_chain where chain_id = '${ORG}' and chain_seq > 5`,
      "delete from audit_anchors where anchor_seq > 1",
    );
    expect((await verify()).anchors.latest).toEqual(older);
    expect(await reasons()).toEqual(["seq_regressed@2"]);
    await world.append(entriesOf(7));
    await anchorAll();
    expect(await reasons()).toEqual(["hash_diverged@2", "hash_diverged@2"]);
  });

  it("reads past a torn line of the file", async () => {
    await world.append(entriesOf(1));
    await anchorAll();
    writeFileSync(file, '{"anchorSeq":2,"chainK', { flag: "a" });
    expect(await kept()).toHaveLength(1);
    await world.append(entriesOf(1));
    await anchorAll();
    expect(await kept()).toHaveLength(2);
    expect((await readStatements(join(directory, "none"), [chain]))(chain)).toEqual([]);
  });

  /** Rewrites row 2 and every hash after it, as an owner who has read this code. */
  async function rechain() {
    const rows = await world.db
      .selectFrom("auditChain")
      .select(["chainSeq", "contentHash"])
      .orderBy("chainSeq")
      .execute();
    const row = await world.db
      .selectFrom("auditLogs")
      .selectAll()
      .where("id", "=", auditIdAt(2))
      .executeTakeFirstOrThrow();
    const { checksum: _c, prevChecksum: _p, ...content } = row;
    const forged = { ...content, timestamp: new Date(row.timestamp).toISOString(), action: "nothing.happened" };
    const hash = contentHash(forged);
    const hashOf = chainHasher(chain);
    const statements = [
      `update audit_logs set action = 'nothing.happened', checksum = '${hash}' where id = '${row.id}'`,
    ];
    let prev: string | null = null;
    for (const { chainSeq, contentHash: sealed } of rows) {
      const seq = Number(chainSeq);
      const content: string =
        seq === 2 ? hash : typeof sealed === "string" ? sealed : Buffer.from(sealed).toString("hex");
      const link: string = hashOf(seq, content, prev);
      statements.push(`update audit_chain set content_hash = ${bytes(content)}, chain_hash = ${bytes(link)},
        prev_hash = ${prev ? bytes(prev) : "null"} where chain_seq = ${seq}`);
      prev = link;
    }
    await world.tamper(...statements);
  }
  const auditIdAt = (seq: number) =>
    world.db.selectFrom("auditChain").select("auditId").where("chainSeq", "=", seq).where("chainId", "=", ORG);
});
