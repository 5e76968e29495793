import { describe, expect, it } from "vitest";
import type { Anchor } from "./anchor-format.ts";
import { type AnchorSigner, anchorSigner, signedBy } from "./anchor-signing.ts";
import { signatureChecks } from "./signature-checks.ts";

const HOUR = 3_600_000;
const startMs = Date.UTC(2026, 0, 1);
const signerOf = (byte: number) => anchorSigner(Buffer.alloc(32, byte).toString("base64"));
const [former, successor, stranger] = [signerOf(1), signerOf(2), signerOf(3)];

const anchor = (anchorSeq: number, hours: number, signer?: AnchorSigner): Anchor =>
  signedBy(signer, {
    ...{ chainKind: "system", chainId: "00000000-0000-0000-0000-000000000000", anchorSeq, prevAnchorHash: null },
    ...{ headChainSeq: anchorSeq, headChainHash: "a", entryCount: anchorSeq, merkleRoot: null },
    anchoredAt: new Date(startMs + hours * HOUR).toISOString(),
  });

function faults(anchors: readonly Anchor[], trusted: readonly AnchorSigner[] = [former, successor]) {
  const checks = signatureChecks(trusted.map(({ publicKey }) => publicKey));
  for (const one of anchors) checks.note(one);
  return anchors.map((one) => checks.fault(one, Date.parse(one.anchoredAt)) ?? "none");
}

describe("a signature of an earlier key", () => {
  it("counts for a day after its successor signed in that chain, while servers are replaced, and no longer", () => {
    const anchors = [anchor(1, 0, former), anchor(2, 1, successor), anchor(3, 25, former), anchor(4, 25.1, former)];
    expect(faults(anchors)).toEqual(["none", "none", "none", "superseded_key"]);
    expect(faults([anchor(1, 0, former), anchor(2, 1_000, former)])).toEqual(["none", "none"]);
  });

  it("does not count where the key is not trusted, and a successor that is not supersedes nothing", () => {
    expect(faults([anchor(1, 0, stranger), anchor(2, 48, former)])).toEqual(["unknown_key", "none"]);
  });
});

it("a missing signature is no fault until a signed statement precedes it, also where no key is known", () => {
  const anchors = [anchor(1, 0), anchor(2, 1, former), anchor(3, 2)];
  for (const trusted of [[former], []]) expect(faults(anchors, trusted)).toEqual(["none", "none", "unsigned"]);
});

it("an altered statement does not verify", () => {
  expect(faults([{ ...anchor(1, 0, former), entryCount: 7 }])).toEqual(["invalid"]);
});
