import { describe, expect, it } from "vitest";
import { type AuditWorld, auditWorlds, entriesOf } from "../test/audit-world.ts";
import { type PruneRecord, statementHash } from "./anchor-format.ts";
import { anchorSigner } from "./anchor-signing.ts";
import { takeAnchor } from "./anchors.ts";
import { exportBundle, verifyBundle } from "./bundle.ts";
import { bundleParts } from "./bundle-source.ts";
import type { ChainRef } from "./chain.ts";

const ORG = "0190c0de-0000-7000-8000-00000000000a";
const chain: ChainRef = { kind: "organization", id: ORG };
const signer = anchorSigner(Buffer.alloc(32, 3).toString("base64"));
const keys = { publicKeys: [signer.publicKey] };
/** Soon after the entries were made, as in life. */
const ANCHORED = "2026-01-02T04:00:00.000Z";

describe.each(["sqlite", "postgres"] as const)("audit bundle from %s", (dialect) => {
  const withWorld = async (work: (world: AuditWorld) => Promise<void>) => {
    const world = await auditWorlds[dialect]();
    await work(world).finally(() => world.close());
  };
  const bundle = async (world: AuditWorld) => {
    const lines: string[] = [];
    const parts = bundleParts(world.db, chain, { now: new Date(), publicKey: signer.publicKey });
    for await (const line of exportBundle(parts)) lines.push(line);
    return lines;
  };
  const anchor = (world: AuditWorld) =>
    takeAnchor(world.db, chain, { now: () => new Date(ANCHORED), signer, keep: async () => undefined });
  const verify = (lines: string[], options = keys) => verifyBundle(stream(lines), options);

  it("says of a chain offline what the live verification says", () =>
    withWorld(async (world) => {
      const entries = entriesOf(20, { details: { odd: 'é\n"\\', one: 1.0 } });
      await world.append([...entries, ...entriesOf(2, { orgId: null })]);
      await anchor(world);
      await world.prune(chain, entries[5]!.timestamp, { signer });
      const live = await world.verify(chain, keys);
      const offline = await verify(await bundle(world));
      expect(offline).toMatchObject({ ok: true, chain, entriesChecked: 15, prunedPrefix: true });
      for (const field of ["orgId", "first", "head", "breaks", "anchors"] as const)
        expect(offline[field]).toEqual(live[field]);

      await world.tamper(
        `update audit_logs set action = 'x' where id = '${entries[7]!.id}'`,
        `delete from audit_logs where id = '${entries[9]!.id}'`,
        `delete from audit_chain where chain_seq = 14 and chain_id = '${ORG}'`,
      );
      const broken = await world.verify(chain, keys);
      expect((await verify(await bundle(world))).breaks).toEqual(broken.breaks);
      expect(broken.breakCount).toBe(5);
    }));

  it("finds an edited line, a dropped line and a forged signature, and refuses a cut bundle", () =>
    withWorld(async (world) => {
      await world.append(entriesOf(5));
      await anchor(world);
      const lines = await bundle(world);
      expect(await verify(lines)).toMatchObject({ ok: true, anchors: { signedCount: 1 } });

      const edited = lines.map((line) => line.replace('"Acme 3"', '"Acme X"'));
      expect((await verify(edited)).breaks).toMatchObject([{ kind: "content_mismatch", chainSeq: 3 }]);
      const dropped = await verify(lines.filter((line) => !line.includes('"Acme 3"')));
      expect(dropped).toMatchObject({ ok: false, counts: { stated: { entries: 5 }, found: { entries: 4 } } });
      expect(dropped.breaks).toMatchObject([{ kind: "sequence_gap" }, { kind: "link_mismatch" }]);
      await expect(verify([...lines, lines[0] as string])).rejects.toThrow("lines follow");
      await expect(verify(lines.slice(0, -1))).rejects.toThrow("cut off");
      await expect(verify(lines.slice(1))).rejects.toThrow("not an audit bundle");

      const recounted = lines
        .filter((line) => !line.includes('"Acme 5"'))
        .map((line) => line.replace('"entries":5', '"entries":4'));
      expect((await verify(recounted)).anchors.problems).toMatchObject([
        { reason: "seq_regressed", anchoredHeadSeq: 5 },
      ]);
      const unanchored = recounted.map((line) => line.replace('"headChainSeq":5', '"headChainSeq":4'));
      expect((await verify(unanchored)).anchors.problems.map(({ reason }) => reason)).toContain("signature_invalid");
    }));

  describe("whoever holds a bundle and knows the format", () => {
    /** Ten entries, anchored at the fifth and at the last. */
    const anchored = async (world: AuditWorld) => {
      const entries = entriesOf(10);
      await world.append(entries.slice(0, 5));
      await anchor(world);
      await world.append(entries.slice(5));
      await anchor(world);
      return bundle(world);
    };
    const parse = (line: string) => JSON.parse(line);
    const isEntry = (line: string) => parse(line).type === "entry";
    /** The bundle without its first `count` entries, as if they had never been. */
    const cut = (lines: string[], count: number): string[] => {
      const gone = new Set(lines.filter(isEntry).slice(0, count));
      return lines
        .filter((line) => !gone.has(line))
        .map((line) => line.replace(/"entries":(\d+)/, (_, n) => `"entries":${Number(n) - count}`));
    };
    /** A record for the first `count` entries that fits everything but the sequence of the statements. */
    const record = (lines: string[], count: number, change: Partial<PruneRecord> = {}): PruneRecord => {
      const last = parse(lines.filter(isEntry)[count - 1]!).entry;
      return {
        type: "prune",
        anchorSeq: 3,
        chainKind: chain.kind,
        chainId: chain.id,
        prevAnchorHash: statementHash(parse(lines[2]!).anchor),
        prunedThroughSeq: last.chainSeq,
        prunedThroughHash: last.chainHash,
        prunedCount: count,
        cutoff: "2026-01-02T03:30:00.000Z",
        prunedAt: "2026-01-05T00:00:00.000Z",
        signature: null,
        signingKeyId: null,
        ...change,
      };
    };
    const line = (prune: object) => `${JSON.stringify({ type: "prune", prune })}\n`;
    const withLine = (lines: string[], at: number, prune: object) => lines.toSpliced(at, 0, line(prune));
    const found = async (lines: string[], options = keys) => {
      const { breaks, anchors } = await verify(lines, options);
      return [
        ...breaks.map(({ kind, chainSeq, actual }) => `${kind}@${chainSeq} ${actual?.slice(0, 30) ?? ""}`.trim()),
        ...anchors.problems
          .filter(({ reason }) => reason !== "count_shrank")
          .map(({ reason, anchorSeq }) => `${reason}#${anchorSeq}`),
      ];
    };

    it("cannot cut four lines and explain them with one of their own", () =>
      withWorld(async (world) => {
        const lines = await anchored(world);
        const forged = record(lines, 4);
        expect(await found(cut(lines, 4))).toMatchObject([expect.stringMatching(/^prefix_unexplained@5/)]);
        for (const [prune, reason] of [
          [forged, "prune_unsigned"],
          [anchorSigner(Buffer.alloc(32, 9).toString("base64")).sign(forged), "prune_signature_invalid"],
          [{ ...forged, signature: "AAAA", signingKeyId: signer.keyId }, "prune_signature_invalid"],
        ] as const)
          expect(await found(withLine(cut(lines, 4), 3, prune))).toEqual([`prefix_unexplained@5 ${reason}`]);
        // Also where nobody knows a key: the anchors beside it are signed.
        expect(await found(withLine(cut(lines, 4), 3, forged), { publicKeys: [] })).toEqual([
          "prefix_unexplained@5 prune_unsigned",
        ]);
        // A line of the format before has no signature and no place.
        const { anchorSeq: _s, prevAnchorHash: _p, type: _t, ...old } = forged;
        const downgraded = withLine(cut(lines, 4), 3, old).map((text) => text.replace('"format":2', '"format":1'));
        expect(await found(downgraded)).toMatchObject([expect.stringMatching(/^prefix_unexplained@5/)]);
        expect((await verify(downgraded)).ok).toBe(false);
      }));

    it("cannot put a record at a place that another statement has, or before the signed ones", () =>
      withWorld(async (world) => {
        const lines = await anchored(world);
        const short = cut(lines, 4);
        const first = record(lines, 4, { anchorSeq: 1, prevAnchorHash: null });
        expect(await found(withLine(short, 1, first))).toContain("prefix_unexplained@5 prune_diverged");
        expect(await found(withLine(short.toSpliced(1, 1), 1, first))).toEqual(
          expect.arrayContaining(["hash_diverged#2"]),
        );
        expect(await found(withLine(short, 3, record(lines, 4, { anchorSeq: 2 })))).not.toEqual([]);
      }));

    it("cannot take a signed record from another chain, or a chain of no organization", () =>
      withWorld(async (world) => {
        const lines = await anchored(world);
        const elsewhere = signer.sign(record(lines, 4, { chainId: "0190c0de-0000-7000-8000-00000000000b" }));
        expect(await found(withLine(cut(lines, 4), 3, elsewhere))).toContain(
          "prefix_unexplained@5 prune_of_another_chain",
        );
        expect(await found(withLine(cut(lines, 4), 3, { ...elsewhere, chainId: chain.id }))).toEqual([
          "prefix_unexplained@5 prune_signature_invalid",
        ]);
        const head = lines[0]!.replace('"organization"', '"partner"');
        expect((await verify([head, ...lines.slice(1)])).ok).toBe(false);
      }));

    it("cannot drop or reorder anchors, or end the statements early with the entries", () =>
      withWorld(async (world) => {
        const lines = await anchored(world);
        expect(await found(lines)).toEqual([]);
        expect(await found(lines.toSpliced(1, 1))).toEqual(["hash_diverged#2"]);
        expect((await verify([lines[0]!, lines[2]!, lines[1]!, ...lines.slice(3)])).ok).toBe(false);
        // Without its last anchor a bundle is whole, but what it says ends there: an anchor kept elsewhere tells.
        const outside = [parse(lines[2]!).anchor];
        const shorter = lines.toSpliced(2, 1).filter((text) => !isEntry(text) || parse(text).entry.chainSeq < 8);
        const counted = shorter.map((text) => text.replace('"entries":10', '"entries":7'));
        expect(await found(counted)).toEqual([]);
        expect(await found(counted, { ...keys, outside } as typeof keys)).toEqual(["seq_regressed#2"]);
      }));

    it("cannot move, swap or repeat entries", () =>
      withWorld(async (world) => {
        const lines = await anchored(world);
        const swapped = lines.toSpliced(5, 2, lines[6]!, lines[5]!);
        expect(await found(swapped)).toContainEqual(expect.stringMatching(/^sequence_gap@4/));
        const repeated = lines.toSpliced(5, 0, lines[5]!).map((text) => text.replace('"entries":10', '"entries":11'));
        expect(await found(repeated)).toContainEqual(expect.stringMatching(/^sequence_gap@3/));
      }));
  });

  it("a bundle of format 1 is still verified: its anchors newest first, its prune records without weight", () =>
    withWorld(async (world) => {
      const entries = entriesOf(6);
      await world.append(entries.slice(0, 3));
      await anchor(world);
      await world.append(entries.slice(3));
      await anchor(world);
      const [head, first, second, ...rest] = await bundle(world);
      const old = [head!.replace('"format":2', '"format":1'), second!, first!, ...rest];
      expect(await verify(old)).toMatchObject({ ok: true, entriesChecked: 6, anchors: { checked: 2, problems: [] } });
    }));
});

async function* stream(lines: string[]): AsyncGenerator<string> {
  yield* lines;
}
