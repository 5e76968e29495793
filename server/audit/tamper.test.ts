import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AuditWorld, auditWorlds, entriesOf } from "../test/audit-world.ts";
import { statementHash } from "./anchor-format.ts";
import { takeAnchor } from "./anchors.ts";
import type { AuditContent, ChainRef } from "./chain.ts";

const ORG = "0190c0de-0000-7000-8000-00000000000a";
const OTHER = "0190c0de-0000-7000-8000-00000000000b";
const chain: ChainRef = { kind: "organization", id: ORG };
const other: ChainRef = { kind: "organization", id: OTHER };

describe.each(["sqlite", "postgres"] as const)("audit log on %s, attacked", (dialect) => {
  let world: AuditWorld;
  let entries: AuditContent[];
  const pg = dialect === "postgres";
  const seqOf = (seq: number) => `chain_id = '${ORG}' and chain_seq = ${seq}`;
  const rowOf = (seq: number) => `id = (select audit_id from audit_chain where ${seqOf(seq)})`;
  const kinds = async (at: ChainRef = chain) => {
    const { breaks } = await world.verify(at);
    return breaks.map(({ kind, chainSeq }) => `${kind}@${chainSeq}`);
  };

  beforeEach(async () => {
    world = await auditWorlds[dialect]();
    entries = entriesOf(10);
    await world.append([...entries, ...entriesOf(3, { orgId: OTHER })]);
  });
  afterEach(() => world.close());

  it("verifies clean before", async () => {
    const result = await world.verify(chain);
    expect(result).toMatchObject({ ok: true, entriesChecked: 10, breakCount: 0, prunedPrefix: false, orgId: ORG });
    expect(result.head?.chainSeq).toBe(10);
    expect(await world.verify(other)).toMatchObject({ ok: true, entriesChecked: 3 });
  });

  describe("refuses", () => {
    const insertRow = (verb: string, id: string, checksum = "00") =>
      `${verb} into audit_logs (id, org_id, timestamp, actor_type, action, details, result, checksum)
       values ('${id}', '${ORG}', '2026-01-01T00:00:00.000Z', 'user', 'forged', '{}', 'success', '${checksum}')`;
    const chainRow = (auditId: string, seq = 11) => `insert into audit_chain
      (chain_kind, chain_id, chain_seq, audit_id, content_hash, chain_hash, sealed_at)
      values ('organization', '${ORG}', ${seq}, '${auditId}', '00', '00', '2026-01-01T00:00:00.000Z')`;
    const oldPrune = `insert into audit_unsigned_prunes
      (chain_kind, chain_id, pruned_through_seq, pruned_through_hash, pruned_count, cutoff, pruned_at)
      values ('organization', '${ORG}', 5, '00', 5, '2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z')`;
    const FRESH = "0190c0de-0000-7000-8000-0000000000ff";

    it.each(["audit_logs", "audit_chain"])(
      "UPDATE and DELETE of %s, by the application and by the owner",
      async (table) => {
        const column = table === "audit_logs" ? "action" : "chain_kind";
        for (const attack of [`update ${table} set ${column} = 'x'`, `delete from ${table}`]) {
          await expect(world.asApp(attack)).rejects.toThrow(/append-only|permission denied/);
          await expect(world.asOwner(attack)).rejects.toThrow(/append-only|no such function/);
        }
        expect(await kinds()).toEqual([]);
      },
    );

    it("UPDATE and DELETE of anchors and prune records", async () => {
      await takeAnchor(world.db, chain, { now: () => new Date(), keep: async () => undefined });
      await world.prune(chain, entries[2]!.timestamp);
      await world.tamper(oldPrune);
      for (const table of ["audit_anchors", "audit_prunes", "audit_unsigned_prunes"])
        for (const attack of [`update ${table} set chain_kind = 'x'`, `delete from ${table}`]) {
          await expect(world.asApp(attack)).rejects.toThrow(/append-only|permission denied/);
          await expect(world.asOwner(attack)).rejects.toThrow(/append-only/);
        }
    });

    it("a row whose checksum is not the hash of its content", async () => {
      await expect(world.asApp(insertRow("insert", FRESH))).rejects.toThrow(/checksum/);
      expect(await kinds()).toEqual([]);
    });

    it("a direct insert into the chain", async () => {
      await expect(world.asApp(chainRow(FRESH))).rejects.toThrow(/append-only|permission denied/);
      await expect(world.asApp(chainRow(entries[0]!.id))).rejects.toThrow(/append-only|permission denied/);
    });

    it("a second row, or a replacement, under a known id", async () => {
      const verbs = pg ? ["insert"] : ["insert", "insert or replace", "insert or ignore", "replace"];
      for (const verb of verbs)
        await expect(world.asApp(insertRow(verb, entries[0]!.id))).rejects.toThrow(/append-only|duplicate key/);
      await expect(
        world.asApp(`${insertRow("insert", entries[0]!.id)} on conflict (id) do update set action = 'forged'`),
      ).rejects.toThrow(/append-only|permission denied/);
      expect(await kinds()).toEqual([]);
    });

    it("a prune record written by the application", async () => {
      await expect(
        world.asApp(`insert into audit_prunes (chain_kind, chain_id, anchor_seq, pruned_through_seq, pruned_through_hash, pruned_count, cutoff, pruned_at)
          values ('organization', '${ORG}', 1, 5, '00', 5, '2027-01-01T00:00:00.000Z', '2027-01-03T00:00:00.000Z')`),
      ).rejects.toThrow(/append-only|permission denied/);
      await expect(world.asOwner(oldPrune)).rejects.toThrow(/append-only/);
    });

    it.runIf(!pg)("replacing a row through its rowid, and any writer without the sealing functions", async () => {
      await expect(world.asApp(`insert or replace into audit_logs (rowid, id) values (1, '${FRESH}')`)).rejects.toThrow(
        /no column named rowid/,
      );
      await expect(world.asOwner(insertRow("insert", FRESH))).rejects.toThrow(/no such function/);
    });

    it.runIf(pg)("TRUNCATE, by the application and by the owner", async () => {
      for (const table of ["audit_logs", "audit_chain", "audit_anchors", "audit_prunes"]) {
        await expect(world.asApp(`truncate ${table}`)).rejects.toThrow(/permission denied/);
        await expect(world.asOwner(`truncate ${table} cascade`)).rejects.toThrow(/append-only/);
      }
    });

    it.runIf(pg)("a shadowing temporary table", async () => {
      await expect(world.asApp("create temp table audit_chain (chain_seq bigint)")).rejects.toThrow(
        /permission denied/,
      );
      // Even for the owner, who may make one, rows are sealed in the real chain.
      await world.asOwner("create temp table audit_chain (like public.audit_chain)");
      const [entry] = entriesOf(1);
      await world.append([entry!]);
      expect(await world.verify(chain)).toMatchObject({ ok: true, entriesChecked: 11 });
    });

    it.runIf(pg)(
      "hanging the sealing function on another table, calling the prune, switching the walls off",
      async () => {
        await world.asOwner(
          "create table public.lookalike (like public.audit_logs)",
          "alter table public.lookalike owner to rmm_app",
        );
        await expect(
          world.asApp("create trigger t after insert on lookalike for each row execute function audit_seal()"),
        ).rejects.toThrow(/permission denied/);
        await world.asOwner(
          "create trigger t after insert on public.lookalike for each row execute function public.audit_seal()",
        );
        await expect(
          world.asOwner(`insert into public.lookalike select * from public.audit_logs limit 1`),
        ).rejects.toThrow(/belongs to audit_logs/);
        for (const call of ["audit_remove('{}')", "audit_prune('{}', 'key', '\\x00')"])
          await expect(world.asApp(`select ${call}`)).rejects.toThrow(/permission denied/);
        await expect(world.asApp("alter table audit_logs disable trigger all")).rejects.toThrow(/must be owner/);
        await expect(world.asApp("set session_replication_role = replica")).rejects.toThrow(/permission denied/);
      },
    );

    it.runIf(pg)("a superuser who plays replica: rows are still sealed, edits still refused", async () => {
      await world.asOwner("set session_replication_role = replica");
      await expect(world.asOwner(`update public.audit_logs set action = 'x'`)).rejects.toThrow(/append-only/);
      const row = `select '${FRESH}'::uuid, org_id, timestamp, actor_type, action, details, result, checksum from public.audit_logs limit 1`;
      await expect(
        world.asOwner(
          `insert into public.audit_logs (id, org_id, timestamp, actor_type, action, details, result, checksum) ${row}`,
        ),
      ).rejects.toThrow(/checksum/);
    });
  });

  describe("detects, once the walls are down", () => {
    it.each([
      ["action", "'x'"],
      ["ip_address", "'198.51.100.1'"],
      ["resource_name", "null"],
      ["details", `'{"after":{"name":"Evil"},"before":{"name":"Acme"}}'`],
      ["timestamp", "'2026-01-02T03:04:09.677Z'"],
      ["actor_id", "null"],
      ["error_message", "''"],
      ["checksum", `'${"0".repeat(64)}'`],
    ])("one field edited: %s (C32)", async (column, value) => {
      await world.tamper(`update audit_logs set ${column} = ${value} where ${rowOf(4)}`);
      expect(await kinds()).toEqual(["content_mismatch@4"]);
    });

    it("links without hashes, one by one", async () => {
      const none = dialect === "postgres" ? "'\\x'" : "''";
      await world.tamper(`update audit_chain set chain_hash = ${none}, prev_hash = ${none}
        where chain_id = '${ORG}' and chain_seq > 7`);
      expect(await kinds()).toEqual(
        expect.arrayContaining(["chain_hash_mismatch@8", "chain_hash_mismatch@9", "chain_hash_mismatch@10"]),
      );
    });

    it("an entry that is hidden from its partner, or shown to another", async () => {
      const partner = (end: string) => `0190c0de-0000-7000-8000-0000000000${end}`;
      await world.asOwner(`insert into organizations (id, partner_id) values ('${ORG}', '${partner("a1")}')`);
      await world.tamper(`update audit_logs set reader_partner_id = '${partner("a1")}' where org_id = '${ORG}'`);
      expect(await kinds()).toEqual([]);
      await world.tamper(
        `update audit_logs set reader_partner_id = null where ${rowOf(4)}`,
        `update audit_logs set reader_partner_id = '${partner("b2")}' where ${rowOf(7)}`,
      );
      expect(await kinds()).toEqual(["content_mismatch@4", "content_mismatch@7"]);
      expect(await kinds(other)).toEqual([]);
    });

    it("an edit that also fixes the checksum and the content hash", async () => {
      const hash = "11".repeat(32);
      await world.tamper(
        `update audit_logs set action = 'x', checksum = '${hash}' where ${rowOf(4)}`,
        `update audit_chain set content_hash = ${pg ? `'\\x${hash}'` : `'${hash}'`} where ${seqOf(4)}`,
      );
      expect(await kinds()).toEqual(expect.arrayContaining(["chain_hash_mismatch@4", "content_mismatch@4"]));
    });

    it("a row gone, a row and its entry gone, an entry gone (C33)", async () => {
      await world.tamper(`delete from audit_logs where ${rowOf(5)}`);
      expect(await kinds()).toEqual(["missing_row@5"]);
      await world.tamper(`delete from audit_chain where ${seqOf(5)}`);
      expect(await kinds()).toEqual(["sequence_gap@6", "link_mismatch@6"]);
      await world.tamper(`delete from audit_chain where ${seqOf(8)}`);
      expect(await kinds()).toEqual([
        "sequence_gap@6",
        "link_mismatch@6",
        "sequence_gap@9",
        "link_mismatch@9",
        "unsealed_row@null",
      ]);
    });

    it("a cut tail whose rows were left, and a row added without an entry", async () => {
      await world.tamper(`delete from audit_chain where chain_id = '${ORG}' and chain_seq > 7`);
      const { breaks, head } = await world.verify(chain);
      expect(head?.chainSeq).toBe(7);
      expect(breaks.map(({ kind, auditId }) => [kind, auditId]).sort()).toEqual(
        entries
          .slice(7)
          .map(({ id }) => ["unsealed_row", id])
          .sort(),
      );
    });

    it("a cut prefix without a prune record, also with the first link emptied", async () => {
      await world.tamper(
        `delete from audit_logs where id in (select audit_id from audit_chain where chain_id = '${ORG}' and chain_seq < 4)`,
        `delete from audit_chain where chain_id = '${ORG}' and chain_seq < 4`,
      );
      expect(await kinds()).toEqual(["prefix_unexplained@4"]);
      await world.tamper(`update audit_chain set prev_hash = null where ${seqOf(4)}`);
      expect(await kinds()).toEqual(["prefix_unexplained@4", "chain_hash_mismatch@4"]);
    });

    it("two rows swapped, also when they have the same moment", async () => {
      const same = entriesOf(1, { resourceName: "A" }, "2026-02-01T00:00:00.000Z");
      const twin = entriesOf(1, { resourceName: "B" }, "2026-02-01T00:00:00.000Z");
      await world.append([...same, ...twin]);
      await world.tamper(
        `update audit_chain set audit_id = '0190c0de-0000-7000-8000-0000000000ee' where ${seqOf(11)}`,
        `update audit_chain set audit_id = '${same[0]!.id}' where ${seqOf(12)}`,
        `update audit_chain set audit_id = '${twin[0]!.id}' where ${seqOf(11)}`,
      );
      expect(await kinds()).toEqual(["content_mismatch@11", "content_mismatch@12"]);
    });

    it("two entries swapped", async () => {
      await world.tamper(
        `update audit_chain set chain_seq = 1003 where ${seqOf(3)}`,
        `update audit_chain set chain_seq = 3 where ${seqOf(4)}`,
        `update audit_chain set chain_seq = 4 where ${seqOf(1003)}`,
      );
      expect(await kinds()).toEqual([
        "link_mismatch@3",
        "chain_hash_mismatch@3",
        "link_mismatch@4",
        "chain_hash_mismatch@4",
        "link_mismatch@5",
      ]);
    });

    it("a row transplanted to another organization", async () => {
      await world.tamper(`update audit_logs set org_id = '${OTHER}' where ${rowOf(6)}`);
      expect(await kinds()).toEqual(["content_mismatch@6"]);
      expect(await kinds(other)).toEqual(["unsealed_row@null"]);
    });

    it("row and entry transplanted to another organization's head", async () => {
      await world.tamper(
        `update audit_logs set org_id = '${OTHER}' where ${rowOf(10)}`,
        `update audit_chain set chain_id = '${OTHER}', chain_seq = 4,
          prev_hash = (select chain_hash from audit_chain where chain_id = '${OTHER}' and chain_seq = 3) where ${seqOf(10)}`,
      );
      expect(await kinds(other)).toEqual(expect.arrayContaining(["chain_hash_mismatch@4", "content_mismatch@4"]));
    });

    it("whatever was done, at the position it was done, and counts beyond the first hundred", async () => {
      await world.append(entriesOf(200));
      await world.tamper(`update audit_logs set action = 'x' where org_id = '${ORG}'`);
      const result = await world.verify(chain);
      expect(result).toMatchObject({ ok: false, breakCount: 210, entriesChecked: 210 });
      expect(result.breaks).toHaveLength(100);
    });
  });

  describe("retention", () => {
    it("removes a prefix with its record, goes on from there, and leaves nothing to explain", async () => {
      const anchorHash = (await world.verify(chain)).head;
      const record = await world.prune(chain, entries[4]!.timestamp);
      expect(record).toMatchObject({
        ...{ type: "prune", chainKind: "organization", chainId: ORG, anchorSeq: 1, prevAnchorHash: null },
        ...{ prunedThroughSeq: 4, prunedCount: 4, cutoff: entries[4]!.timestamp },
      });
      expect(await world.verify(chain)).toMatchObject({
        ok: true,
        prunedPrefix: true,
        entriesChecked: 6,
        first: { chainSeq: 5 },
      });
      expect(await world.prune(chain, entries[4]!.timestamp)).toBeNull();
      expect(await world.prune(chain, "2030-01-01T00:00:00.000Z")).toMatchObject({
        prunedThroughSeq: 10,
        prunedCount: 6,
      });
      expect(await world.verify(chain)).toMatchObject({ ok: true, prunedPrefix: true, entriesChecked: 0, head: null });
      await world.append(entriesOf(2));
      const after = await world.verify(chain);
      expect(after).toMatchObject({
        ok: true,
        first: { chainSeq: 11, prevHash: anchorHash?.chainHash },
        head: { chainSeq: 12 },
      });
      expect(await world.verify(other)).toMatchObject({ ok: true, prunedPrefix: false });
    });

    it("accepts a first link after a pruned prefix whose prevHash is null", async () => {
      await world.prune(chain, entries[4]!.timestamp);
      await world.tamper(`update audit_chain set prev_hash = null where ${seqOf(5)}`);
      expect(await world.verify(chain)).toMatchObject({ ok: true, prunedPrefix: true });
    });

    it("does not hide a gap: it stops at a missing row, and a forged record does not explain", async () => {
      await world.tamper(`delete from audit_logs where ${rowOf(3)}`);
      const { record, stop } = await world.pruned(chain, "2030-01-01T00:00:00.000Z");
      expect([record?.prunedThroughSeq, stop]).toEqual([2, { chainSeq: 3, reason: "missing_row" }]);
      expect(await kinds()).toEqual(["missing_row@3"]);
      await world.tamper(
        `insert into audit_prunes (chain_kind, chain_id, anchor_seq, prev_anchor_hash, pruned_through_seq, pruned_through_hash, pruned_count, cutoff, pruned_at)
         values ('organization', '${ORG}', 2, '${statementHash(record!)}', 6, '${"00".repeat(32)}', 6, '2031-01-01T00:00:00.000Z', '2031-01-03T00:00:00.000Z')`,
        `delete from audit_logs where id in (select audit_id from audit_chain where chain_id = '${ORG}' and chain_seq < 7)`,
        `delete from audit_chain where chain_id = '${ORG}' and chain_seq < 7`,
      );
      expect(await kinds()).toEqual(["prefix_unexplained@7"]);
    });

    it("stays the only way to delete, also for the owner and below an old record", async () => {
      await world.prune(chain, entries[4]!.timestamp);
      for (const attack of [`delete from audit_logs where ${rowOf(6)}`, `delete from audit_chain where ${seqOf(6)}`])
        await expect(world.asOwner(attack)).rejects.toThrow(/append-only|no such function/);
    });
  });
});
