import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AuditWorld, auditWorlds, entriesOf } from "../test/audit-world.ts";
import { appendLines } from "./anchor-file.ts";
import type { Anchor } from "./anchor-format.ts";
import { anchorSigner } from "./anchor-signing.ts";
import { anchorGrownChains } from "./anchors.ts";
import type { ChainRef } from "./chain.ts";
import { enqueueAudit } from "./outbox.ts";
import { verifyInWorker } from "./verify-in-worker.ts";
import type { AuditVerify } from "./verify-result.ts";
import { auditWriter } from "./writer.ts";

const chain: ChainRef = { kind: "organization", id: "0190c0de-0000-7000-8000-00000000000a" };
const signer = anchorSigner(Buffer.alloc(32, 3).toString("base64"));
/** Verification rests while it is written. */
const LONGEST_MS = 90_000;
const RUNS_MIN = 3;
/** Lines of another chain: while they are read, more anchors are taken. */
const OTHERS = `${JSON.stringify({ chainKind: "organization", chainId: chain.id.replace(/a$/, "b") })}\n`.repeat(
  100_000,
);
/** Anchors that are taken while it is verified. */
const ANCHORS_MIN = 3;

const anchorsSince = (runs: readonly AuditVerify[]): number =>
  (runs.at(-1)?.anchors.checked ?? 0) - (runs[0]?.anchors.checked ?? 0);

describe.each(["sqlite", "postgres"] as const)("a chain that grows on %s", (dialect) => {
  let world: AuditWorld;
  let directory: string;
  let anchorFile: string;

  beforeEach(async () => {
    world = await auditWorlds[dialect]();
    directory = mkdtempSync(join(tmpdir(), "rmm-growing-"));
    anchorFile = join(directory, "anchors.jsonl");
    writeFileSync(anchorFile, OTHERS);
  });
  afterEach(async () => {
    await world.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const verify = async (): Promise<AuditVerify> => {
    const options = { database: world.database, anchorFile, publicKeys: [signer.publicKey] };
    for await (const result of verifyInWorker(options, [chain])) return result;
    throw new Error("nothing was verified");
  };

  it(
    "verifies intact at every moment while it is written and anchored, in the database and in the file (C38)",
    async () => {
      const writer = auditWriter(world.db, { ...world.writerOptions, pollMs: 5 });
      writer.start();
      let growing = true;
      const whileGrowing = async (work: () => Promise<unknown>) => {
        while (growing) {
          await work();
          await pause(10);
        }
      };
      const now = () => new Date("2026-01-02T04:00:00.000Z");
      const keep = (anchor: Anchor) => appendLines(anchorFile, [anchor]);
      const work = [
        ...Array.from(
          { length: 2 },
          () => () => world.db.transaction().execute((tx) => enqueueAudit(tx, entriesOf(2))),
        ),
        () => anchorGrownChains(world.db, { now, signer, keep }),
      ].map(whileGrowing);
      const runs: AuditVerify[] = [];
      try {
        while (runs.length < RUNS_MIN || anchorsSince(runs) < ANCHORS_MIN) runs.push(await verify());
      } finally {
        growing = false;
        await Promise.all(work);
      }
      await writer.drain(AbortSignal.timeout(20_000));
      await writer.stop();
      expect(runs.map(({ ok, breaks, anchors }) => ({ ok, breaks, problems: anchors.problems }))).toEqual(
        runs.map(() => ({ ok: true, breaks: [], problems: [] })),
      );
      // It did grow meanwhile, and each run says how far it went.
      const heads = runs.map(({ head }) => head?.chainSeq ?? 0);
      expect(heads).toEqual(heads.toSorted((a, b) => a - b));
      expect(heads.at(-1)).toBeGreaterThan(heads[0] as number);
    },
    LONGEST_MS,
  );
});
