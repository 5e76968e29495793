import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AuditWorld, auditWorlds, entriesOf } from "../test/audit-world.ts";
import { appendLines, readStatements } from "./anchor-file.ts";
import { type ChainStatement, type PruneRecord, statementHash } from "./anchor-format.ts";
import { anchorSigner } from "./anchor-signing.ts";
import { AnchorRefused, takeAnchor } from "./anchors.ts";
import type { AuditContent, ChainRef } from "./chain.ts";
import { latestStatement, listStatements } from "./statements.ts";

const ORG = "0190c0de-0000-7000-8000-00000000000a";
const OTHER = "0190c0de-0000-7000-8000-00000000000b";
const chain: ChainRef = { kind: "organization", id: ORG };
const other: ChainRef = { kind: "organization", id: OTHER };
const signer = anchorSigner(Buffer.alloc(32, 3).toString("base64"));
const stranger = anchorSigner(Buffer.alloc(32, 4).toString("base64"));
const DAY = 24 * 60 * 60 * 1_000;

describe.each(["sqlite", "postgres"] as const)("prune records on %s", (dialect) => {
  let world: AuditWorld;
  let entries: AuditContent[];
  let file: string;
  let directory: string;
  let nowMs: number;

  beforeEach(async () => {
    world = await auditWorlds[dialect]();
    directory = mkdtempSync(join(tmpdir(), "rmm-prunes-"));
    file = join(directory, "anchors.ndjson");
    nowMs = Date.parse("2026-01-02T04:00:00.000Z");
    entries = entriesOf(10);
    await world.append([...entries, ...entriesOf(10, { orgId: OTHER })]);
  });
  afterEach(async () => {
    await world.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const keep = (statement: ChainStatement) => appendLines(file, [statement]);
  const anchor = (of = chain, by: typeof signer | undefined = signer) =>
    takeAnchor(world.db, of, { now: () => new Date(nowMs), signer: by, keep });
  const head = async (of = chain) => (await world.verify(of)).head;
  /** Removes the first `count` entries, a day or more after they were made. */
  const prune = async (count: number, of = chain, by: typeof signer | undefined = signer) => {
    nowMs = Math.max(nowMs, Date.parse(entries[9]!.timestamp) + 2 * DAY);
    const cutoff = count < 10 ? entries[count]!.timestamp : new Date(nowMs - DAY).toISOString();
    const how = { ...(by ? { signer: by } : {}), now: new Date(nowMs).toISOString() };
    const record = (await world.prune(of, cutoff, how)) as PruneRecord;
    await keep(record);
    return record;
  };
  const verify = async (of = chain, withFile = true) => {
    const outside = withFile ? (await readStatements(file, [of]))(of) : [];
    return world.verify(of, { publicKeys: [signer.publicKey], outside });
  };
  /** Every break and problem that is more than information, in short. */
  const found = async (of = chain, withFile = true) => {
    const { breaks, anchors } = await verify(of, withFile);
    return [
      ...breaks.map(({ kind, chainSeq, actual }) =>
        `${kind}@${chainSeq} ${actual?.startsWith("prune") ? actual : ""}`.trim(),
      ),
      ...anchors.problems
        .filter(({ reason }) => reason !== "count_shrank")
        .map(({ reason, anchorSeq }) => `${reason}#${anchorSeq}`),
    ];
  };
  const cut = (through: number, of = chain) =>
    world.tamper(
      `delete from audit_logs where id in (select audit_id from audit_chain where chain_id = '${of.id}' and chain_seq <= ${through})`,
      `delete from audit_chain where chain_id = '${of.id}' and chain_seq <= ${through}`,
    );
  const value = (text: string | number | null | undefined) =>
    text === null || text === undefined ? "null" : typeof text === "number" ? String(text) : `'${text}'`;
  /** Stores a record as whoever owns the database does, past every trigger. */
  const forge = (record: PruneRecord) =>
    world.tamper(`insert into audit_prunes (chain_kind, chain_id, anchor_seq, prev_anchor_hash, pruned_through_seq,
      pruned_through_hash, pruned_count, cutoff, pruned_at, signature, signing_key_id) values (${[
        record.chainKind,
        record.chainId,
        record.anchorSeq,
        record.prevAnchorHash,
        record.prunedThroughSeq,
        record.prunedThroughHash,
        record.prunedCount,
        record.cutoff,
        record.prunedAt,
        record.signature,
        record.signingKeyId,
      ]
        .map(value)
        .join(", ")})`);
  /** What a record for the first four entries would say, made as well as anybody can who knows the format. */
  const wellMade = async (change: Partial<PruneRecord> = {}): Promise<PruneRecord> => {
    const before = await latestStatement(world.db, chain);
    const row = await world.db
      .selectFrom("auditChain")
      .select("chainHash")
      .where("chainId", "=", ORG)
      .where("chainSeq", "=", 4)
      .executeTakeFirstOrThrow();
    return {
      type: "prune",
      anchorSeq: (before?.anchorSeq ?? 0) + 1,
      chainKind: "organization",
      chainId: ORG,
      prevAnchorHash: before ? statementHash(before) : null,
      prunedThroughSeq: 4,
      prunedThroughHash: typeof row.chainHash === "string" ? row.chainHash : Buffer.from(row.chainHash).toString("hex"),
      prunedCount: 4,
      cutoff: entries[4]!.timestamp,
      prunedAt: "2026-01-05T00:00:00.000Z",
      signature: null,
      signingKeyId: null,
      ...change,
    };
  };

  it("are signed, stand between the anchors, and the next anchor carries their hash", async () => {
    await anchor();
    const record = await prune(4);
    await world.append(entriesOf(1, {}, new Date(nowMs).toISOString()));
    const next = await anchor();
    const [third, second, first] = await listStatements(world.db, chain, { limit: 10, offset: 0 });
    expect([first?.anchorSeq, second, third]).toEqual([1, record, next]);
    expect(record).toMatchObject({ type: "prune", anchorSeq: 2, prevAnchorHash: statementHash(first!) });
    expect(next?.prevAnchorHash).toBe(statementHash(record));
    expect(record.signingKeyId).toBe(signer.keyId);
    expect(await verify()).toMatchObject({ ok: true, prunedPrefix: true, first: { chainSeq: 5 } });
    expect(await verify(chain, false)).toMatchObject({ ok: true });
    expect(await prune(10)).toMatchObject({ anchorSeq: 4, prunedThroughSeq: 10, prunedCount: 6 });
    expect(await verify()).toMatchObject({ ok: true, first: { chainSeq: 11 } });
  });

  it("do not count without a signature once the chain has one, forged as well as anybody can", async () => {
    await anchor();
    const record = await wellMade();
    await forge(record);
    await cut(4);
    expect(await found()).toEqual(["prefix_unexplained@5 prune_unsigned"]);
    expect(await found(chain, false)).toEqual(["prefix_unexplained@5 prune_unsigned"]);
    // Nor does the server go on from there as if nothing were.
    await world.append(entriesOf(1));
    await expect(anchor()).resolves.toMatchObject({ anchorSeq: 3 });
    expect(await found()).toContain("prefix_unexplained@5 prune_unsigned");
  });

  it("do not count with another key's signature, or with one of another record", async () => {
    await anchor();
    const record = await wellMade();
    await forge(stranger.sign(record));
    await cut(4);
    expect(await found()).toEqual(["prefix_unexplained@5 prune_signature_invalid"]);
    const { signature } = signer.sign({ ...record, prunedThroughSeq: 2 });
    await world.tamper(`update audit_prunes set signature = '${signature}', signing_key_id = '${signer.keyId}'`);
    expect(await found()).toEqual(["prefix_unexplained@5 prune_signature_invalid"]);
  });

  it("do not count for another chain: a record replayed there, with its own id or with that chain's", async () => {
    await anchor();
    await anchor(other);
    const record = await prune(4, other);
    await cut(4);
    await forge({ ...record, chainId: ORG });
    expect(await found()).toEqual(["prefix_unexplained@5 prune_signature_invalid"]);
    expect(await found(other)).toEqual([]);
  });

  it("do not count at a place that is taken, or that leaves a gap: records and anchors form one sequence", async () => {
    await anchor();
    const first = await prune(2);
    const replayed = await wellMade({ ...first, anchorSeq: 3 });
    await forge(replayed);
    expect(await found()).toEqual(["prefix_unexplained@3 prune_signature_invalid"]);
    await world.tamper("delete from audit_prunes where anchor_seq = 3");
    const ahead = signer.sign(await wellMade({ anchorSeq: 9 }));
    await forge(ahead);
    await cut(4);
    expect(await found()).toEqual(["prefix_unexplained@5 prune_diverged"]);
  });

  it("do not count when they removed their own last day, also with a good signature", async () => {
    await anchor();
    // The database's own check is in the way of whoever does not take it off.
    await expect(forge(await wellMade({ prunedAt: entries[5]!.timestamp }))).rejects.toThrow(/check/i);
    const record = await wellMade({ prunedAt: entries[5]!.timestamp });
    await appendLines(file, [signer.sign(record)]);
    await cut(4);
    expect(await found()).toEqual(["prefix_unexplained@5 prune_too_young"]);
  });

  it("do not count beyond an anchor taken a day after the cutoff: what followed it was younger", async () => {
    const early = entriesOf(3, { orgId: "0190c0de-0000-7000-8000-00000000000c" });
    const third: ChainRef = { kind: "organization", id: "0190c0de-0000-7000-8000-00000000000c" };
    await world.append(early);
    nowMs += 3 * DAY;
    await anchor(third);
    // Backdated: made after the anchor, but they say they are older than it.
    await world.append(entriesOf(3, { orgId: third.id }));
    const cutoff = "2026-01-02T12:00:00.000Z";
    // Retention itself stops at the anchor.
    const record = await world.prune(third, cutoff, { signer, now: new Date(nowMs).toISOString() });
    expect(record?.prunedThroughSeq).toBe(3);
    const { chainHash } = (await head(third))!;
    const beyond = { ...record!, anchorSeq: 3, prevAnchorHash: statementHash(record!) };
    await forge(signer.sign({ ...beyond, prunedThroughSeq: 6, prunedThroughHash: chainHash, prunedCount: 3 }));
    await cut(6, third);
    const { breaks } = await verify(third, false);
    expect(breaks).toMatchObject([{ kind: "prefix_unexplained", chainSeq: 7, actual: "prune_beyond_anchor" }]);
  });

  it("do not count when the anchor file lacks them, which holds what came before and after", async () => {
    await anchor();
    const record = await prune(4);
    await world.append(entriesOf(1, {}, new Date(nowMs).toISOString()));
    await anchor();
    expect(await found()).toEqual([]);
    const lines = readFileSync(file, "utf8").split("\n");
    writeFileSync(file, lines.filter((line) => !line.includes('"prune"')).join("\n"));
    expect(await found()).toEqual(["prefix_unexplained@5 prune_not_in_file"]);
    // At the end of the file it is only not there yet.
    writeFileSync(file, `${lines[0]}\n`);
    expect(await found()).toEqual([]);
    expect(record.anchorSeq).toBe(2);
  });

  it("count from the anchor file where the database lost them", async () => {
    await anchor();
    await prune(4);
    await world.tamper("delete from audit_prunes");
    expect(await found()).toEqual([]);
    expect(await found(chain, false)).toEqual(["prefix_unexplained@5"]);
  });

  it("exist for organizations alone, in code and in the database", async () => {
    const system: ChainRef = { kind: "system", id: "00000000-0000-0000-0000-000000000000" };
    await world.append(entriesOf(3, { orgId: null }));
    const how = { signer, now: "2026-03-01T00:00:00.000Z" };
    expect(await world.prune(system, "2026-02-01T00:00:00.000Z", how)).toBeNull();
    await expect(
      forge(await wellMade({ chainKind: "system", chainId: system.id, anchorSeq: 1, prevAnchorHash: null })),
    ).rejects.toThrow(/check/i);
    const record = signer.sign(await wellMade({ chainKind: "system", chainId: system.id, anchorSeq: 1 }));
    await appendLines(file, [record]);
    expect(await found(system)).toEqual(["prefix_unexplained@5 prune_of_no_organization"]);
  });

  it("leave evidence where it is: nothing from the first entry on that was altered", async () => {
    await world.tamper(`update audit_logs set action = 'x' where id = '${entries[3]!.id}'`);
    const how = { signer, now: "2026-03-01T00:00:00.000Z" };
    const { record, stop } = await world.pruned(chain, "2026-02-01T00:00:00.000Z", how);
    expect([record?.prunedThroughSeq, stop]).toEqual([3, { chainSeq: 4, reason: "content_mismatch" }]);
    expect(await found()).toEqual(["content_mismatch@4"]);
    expect(await world.pruned(chain, "2026-02-01T00:00:00.000Z", how)).toEqual({ record: null, stop });
    // After its incident was open long enough it goes too, and the record says how much did not hold.
    const end = await world.pruned(chain, "2026-02-01T00:00:00.000Z", { ...how, evenBroken: true });
    expect(end.record).toMatchObject({ prunedThroughSeq: 10, prunedCount: 7, breakCount: 1 });
    expect(await verify(chain, false)).toMatchObject({ ok: true, head: null });
  });

  it("are several where a long prefix goes, so that nothing waits for all of it", async () => {
    const long: ChainRef = { kind: "organization", id: "0190c0de-0000-7000-8000-00000000000d" };
    await world.append(entriesOf(4_500, { orgId: long.id }));
    const how = { signer, now: "2026-03-01T00:00:00.000Z" };
    const counts: number[] = [];
    for (;;) {
      const record = await world.prune(long, "2026-02-01T00:00:00.000Z", how);
      if (!record) break;
      counts.push(record.prunedCount);
    }
    expect(counts).toEqual(dialect === "sqlite" ? [1_000, 1_000, 1_000, 1_000, 500] : [4_500]);
    expect(await verify(long, false)).toMatchObject({ ok: true, head: null, prunedPrefix: true });
  });

  it("refuse what nobody may remove: the last day, whatever was asked", async () => {
    const now = new Date(Date.parse(entries[9]!.timestamp) + 60_000).toISOString();
    expect(await world.prune(chain, now, { signer, now })).toBeNull();
    expect(await verify()).toMatchObject({ ok: true, entriesChecked: 10 });
  });

  it("no anchor is taken over a chain that contradicts the last one", async () => {
    await anchor();
    await world.tamper(
      `delete from audit_logs where id in (select audit_id from audit_chain where chain_id = '${ORG}' and chain_seq > 7)`,
      `delete from audit_chain where chain_id = '${ORG}' and chain_seq > 7`,
    );
    await expect(anchor()).rejects.toThrow(AnchorRefused);
    await world.append(entriesOf(5));
    await expect(anchor()).rejects.toThrow(/which anchor 1 covers, is another/);
    await cut(20);
    await expect(anchor()).rejects.toThrow(/which anchor 1 covers, is gone/);
    expect(await listStatements(world.db, chain, { limit: 10, offset: 0 })).toHaveLength(1);
  });
});
