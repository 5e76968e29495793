import { describe, expect, it } from "vitest";
import { type AuditWorld, auditWorlds, entriesOf } from "../test/audit-world.ts";
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
      await expect(verify(lines.filter((line) => !line.includes('"Acme 3"')))).rejects.toThrow("not complete");
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
});

async function* stream(lines: string[]): AsyncGenerator<string> {
  yield* lines;
}
