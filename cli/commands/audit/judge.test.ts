import { describe, expect, it } from "vitest";
import type { Anchor, ChainStatement, PruneRecord } from "#server/audit/anchor-format";
import { anchorSigner } from "#server/audit/anchor-signing";
import { type ChainRef, SYSTEM_CHAIN } from "#server/audit/chain";
import { statementChecks } from "#server/audit/statement-checks";
import type { AuditBreak, AuditVerify } from "#server/audit/verify-result";
import { anchorKeys } from "./anchor-keys.ts";
import { compareOutside } from "./compare-outside.ts";
import { judge, type RequiredAnchor } from "./judge.ts";

const signer = anchorSigner(Buffer.alloc(32, 1).toString("base64"));
const stranger = anchorSigner(Buffer.alloc(32, 2).toString("base64"));
const hashAt = (seq: number) => seq.toString(16).padStart(64, "0");

const ORG: ChainRef = { kind: "organization", id: "0190c0de-0000-7000-8000-00000000000a" };
const anchor = (anchorSeq: number, headChainSeq: number, by = signer, of: ChainRef = SYSTEM_CHAIN): Anchor =>
  by.sign({
    anchorSeq,
    chainKind: of.kind,
    chainId: of.id,
    headChainSeq,
    headChainHash: headChainSeq === 0 ? null : hashAt(headChainSeq),
    entryCount: headChainSeq,
    merkleRoot: null,
    prevAnchorHash: null,
    anchoredAt: "2026-03-02T09:00:00.000Z",
  });
const prune = (anchorSeq: number, prunedThroughSeq: number, by = signer): PruneRecord =>
  by.sign({
    type: "prune",
    anchorSeq,
    chainKind: ORG.kind,
    chainId: ORG.id,
    prevAnchorHash: null,
    prunedThroughSeq,
    prunedThroughHash: hashAt(prunedThroughSeq),
    prunedCount: prunedThroughSeq,
    cutoff: "2025-03-02T09:00:00.000Z",
    prunedAt: "2026-03-02T09:00:00.000Z",
  });
const unsigned = <S extends ChainStatement>(one: S): S => ({ ...one, signature: null, signingKeyId: null });

const walked = (change: Partial<AuditVerify> = {}): AuditVerify => ({
  ...{ orgId: null, partnerId: null, ok: true, entriesChecked: 10, first: { chainSeq: 1, prevHash: null } },
  ...{ head: { chainSeq: 10, chainHash: hashAt(10) }, prunedPrefix: false, breakCount: 0, breaks: [] },
  anchors: { checked: 0, signedCount: 0, latest: null, problems: [] },
  ...{ verifiedAt: "2026-03-02T09:00:00.000Z", durationMs: 1 },
  ...change,
});

interface Known {
  result?: AuditVerify;
  /** What the server lists, by rising anchorSeq; one at a time, so that none needs to follow another. */
  stored?: ChainStatement[];
  outside?: ChainStatement[];
  requireAnchor?: RequiredAnchor;
  chain?: ChainRef;
}

const judged = async (known: Known = {}, spki: string[] = [signer.publicKey]) => {
  const { result = walked(), stored = [anchor(2, 10)], outside, requireAnchor, chain = SYSTEM_CHAIN } = known;
  const keys = await anchorKeys(spki);
  const checks = statementChecks(chain, { publicKeys: keys.spki, outside, partial: true });
  for (const statement of stored) checks.add(statement);
  const compared = outside === undefined ? [] : compareOutside(result, stored, outside);
  return judge({ result, checked: checks.close(), outside, keys, requireAnchor, compared });
};

const broken = (found: Partial<AuditBreak> & Pick<AuditBreak, "kind">): AuditVerify =>
  walked({
    ok: false,
    breakCount: 1,
    breaks: [{ chainSeq: 4, auditId: "id", expected: null, actual: null, ...found }],
  });

describe("a chain is broken", () => {
  it("by every break of the walk, at its position", async () => {
    for (const kind of ["sequence_gap", "link_mismatch", "chain_hash_mismatch", "content_mismatch"] as const) {
      const { verdict, findings } = await judged({ result: broken({ kind }) });
      expect([verdict, findings[0]?.kind, findings[0]?.chainSeq]).toEqual(["broken", kind, 4]);
    }
  });

  it("when its beginning is not the one that retention recorded", async () => {
    const result = broken({ kind: "prefix_unexplained", expected: hashAt(3), actual: hashAt(99) });
    expect((await judged({ result })).verdict).toBe("broken");
  });

  it("when an anchor kept elsewhere covers more than the chain has", async () => {
    const { verdict, findings } = await judged({ outside: [anchor(3, 12)] });
    expect([verdict, findings[0]?.kind, findings[0]?.chainSeq]).toEqual(["broken", "seq_regressed", 12]);
  });

  it("when an anchor kept elsewhere has another hash at the head, or differs from the server's, or is gone there", async () => {
    const other = signer.sign({ ...anchor(2, 10), headChainHash: hashAt(77) });
    expect((await judged({ outside: [other] })).findings[0]?.kind).toBe("hash_diverged");
    const altered = signer.sign({ ...anchor(1, 5), headChainHash: hashAt(77) });
    expect((await judged({ stored: [anchor(1, 5)], outside: [altered] })).findings[0]?.kind).toBe("hash_diverged");
    expect((await judged({ outside: [anchor(1, 5)], stored: [] })).findings[0]?.kind).toBe("anchor_lost");
  });

  it("when its beginning is explained by a record that is forged, unsigned, another chain's, or of no organization", async () => {
    const result = walked({ prunedPrefix: true, first: { chainSeq: 5, prevHash: hashAt(4) } });
    const of = async (record: PruneRecord, chain = ORG, stored = [anchor(1, 10, signer, chain)]) => {
      const { verdict, findings } = await judged({ result, chain, stored, outside: [...stored, record] });
      return [verdict, findings[0]?.kind, findings[0]?.message];
    };
    const text = expect.any(String);
    expect(await of({ ...prune(2, 4), prunedCount: 3 })).toEqual(["broken", "prefix_unexplained", text]);
    expect(await of(unsigned(prune(2, 4)))).toEqual(["broken", "prefix_unexplained", text]);
    const foreign = signer.sign({ ...prune(2, 4), chainId: "0190c0de-0000-7000-8000-00000000000b" });
    expect(await of(foreign)).toEqual(["broken", "prefix_unexplained", expect.stringContaining("another chain's")]);
    const ofSystem = signer.sign({ ...prune(2, 4), chainKind: SYSTEM_CHAIN.kind, chainId: SYSTEM_CHAIN.id });
    expect(await of(ofSystem, SYSTEM_CHAIN)).toEqual([
      "broken",
      "prefix_unexplained",
      expect.stringContaining("cannot be"),
    ]);
  });

  it("when a key signs that another had replaced more than a day before", async () => {
    const at = (one: Anchor, anchoredAt: string, by: typeof signer) => by.sign({ ...one, anchoredAt });
    const keys = [signer.publicKey, stranger.publicKey];
    const outside = [
      at(anchor(1, 2), "2026-03-01T00:00:00.000Z", signer),
      at(anchor(2, 5), "2026-03-02T00:00:00.000Z", stranger),
      at(anchor(3, 7), "2026-03-02T23:00:00.000Z", signer),
      at(anchor(4, 10), "2026-03-03T01:00:00.000Z", signer),
    ];
    const late = async (kept: Anchor[]) => {
      const { verdict, findings } = await judged({ stored: kept.slice(-1), outside: kept }, keys);
      return [verdict, findings.filter(({ kind }) => kind === "signature_invalid").map(({ chainSeq }) => chainSeq)];
    };
    expect(await late(outside)).toEqual(["broken", [10]]);
    expect((await late(outside.slice(0, 3)))[1]).toEqual([]);
  });

  it("when a signature of a known key is wrong", async () => {
    const forged = { ...anchor(1, 5), entryCount: 4 };
    expect(await judged({ stored: [forged] })).toMatchObject({
      verdict: "broken",
      findings: [{ kind: "signature_invalid" }],
    });
  });

  it("and nothing that is merely unproven makes it less so", async () => {
    const result = broken({ kind: "missing_row" });
    expect((await judged({ result, requireAnchor: "head" }, [])).verdict).toBe("broken");
  });
});

describe("a chain is not provable", () => {
  it("when its beginning is gone and no prune record says why", async () => {
    const result = broken({ kind: "prefix_unexplained", actual: hashAt(3) });
    expect((await judged({ result })).verdict).toBe("not_provable");
  });

  it("when an anchor is signed by an unknown key, even if the server calls that invalid", async () => {
    const problem = { anchorSeq: 1, reason: "signature_invalid" as const, anchoredHeadSeq: 5, liveHeadSeq: 10 };
    const result = walked({ ok: false, anchors: { checked: 1, signedCount: 1, latest: null, problems: [problem] } });
    const stored = [anchor(1, 5, stranger)];
    expect(await judged({ result, stored })).toMatchObject({
      verdict: "not_provable",
      findings: [{ kind: "unknown_key" }],
    });
    expect((await judged({ result, stored }, [signer.publicKey, stranger.publicKey])).verdict).toBe("ok");
  });

  it("when an anchor is required and none is signed, at or before the head, or kept where it was asked for", async () => {
    for (const requireAnchor of ["head", "any"] as const) {
      for (const change of [
        { stored: [] },
        { stored: [unsigned(anchor(1, 5))] },
        { stored: [anchor(3, 12)] },
        { outside: [] },
      ]) {
        expect((await judged({ ...change, requireAnchor })).findings.at(-1)?.kind).toBe("unanchored");
      }
      expect((await judged({ requireAnchor }, [])).verdict).toBe("not_provable");
    }
  });

  it("when entries at the end are covered by no anchor, unless any anchor will do", async () => {
    const { verdict, findings } = await judged({ requireAnchor: "head", stored: [anchor(1, 5)] });
    expect([verdict, findings.map(({ kind }) => kind)]).toEqual(["not_provable", ["unanchored"]]);
    expect(findings[0]?.message).toContain("5 entries after it are not covered");
    expect((await judged({ requireAnchor: "any", stored: [anchor(1, 5)] })).verdict).toBe("ok");
    expect((await judged({ requireAnchor: "head", stored: [anchor(1, 10)] })).verdict).toBe("ok");
  });

  it("when its beginning is explained by a record without a signature, or nobody can verify the record", async () => {
    const result = walked({ prunedPrefix: true, first: { chainSeq: 5, prevHash: hashAt(4) } });
    const of = (stored: ChainStatement[], spki: string[]) => judged({ result, chain: ORG, stored }, spki);
    expect(await of([unsigned(prune(1, 4))], [signer.publicKey])).toMatchObject({
      verdict: "not_provable",
      findings: [{ kind: "prune_unproven", chainSeq: 5 }],
    });
    expect((await of([prune(1, 4)], [])).verdict).toBe("not_provable");
    expect((await of([prune(1, 4, stranger)], [signer.publicKey])).findings[0]?.kind).toBe("unknown_key");
    expect((await of([prune(1, 4)], [signer.publicKey])).verdict).toBe("ok");
    // Where nothing is signed, nothing more can be asked.
    expect((await of([unsigned(prune(1, 4))], [])).verdict).toBe("ok");
  });
});

describe("a chain is whole", () => {
  it("with an anchor at or before its head when one is required, and says how far anchors reach", async () => {
    const judgement = await judged({ requireAnchor: "any", stored: [anchor(1, 5)], outside: [anchor(1, 5)] });
    expect(judgement).toMatchObject({ verdict: "ok", anchored: { through: 5, count: 1, signed: 1, verified: 1 } });
  });

  it("when it was emptied by retention after an anchor was taken", async () => {
    const result = walked({ head: null, first: null, entriesChecked: 0, prunedPrefix: true });
    const [stored, outside] = [[anchor(1, 5, signer, ORG)], [anchor(1, 5, signer, ORG)]];
    expect((await judged({ chain: ORG, result, stored, outside })).verdict).toBe("ok");
    const emptied = [prune(1, 10)];
    expect((await judged({ chain: ORG, result, stored: emptied, requireAnchor: "head" })).verdict).toBe("ok");
  });
});
