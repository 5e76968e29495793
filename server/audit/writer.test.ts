import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AuditWorld, auditWorlds, entriesOf } from "../test/audit-world.ts";
import { type AuditContent, type ChainRef, contentFields, contentHash } from "./chain.ts";
import { enqueueAudit } from "./outbox.ts";
import { auditWriter } from "./writer.ts";

const ORG = "0190c0de-0000-7000-8000-00000000000a";
const chain: ChainRef = { kind: "organization", id: ORG };
const orgAt = (index: number) => `0190c0de-0000-7000-8000-0000000000${String(10 + index)}`;

describe.each(["sqlite", "postgres"] as const)("audit writer on %s", (dialect) => {
  let world: AuditWorld;
  const enqueue = (entries: ReturnType<typeof entriesOf>) =>
    world.db.transaction().execute((trx) => enqueueAudit(trx, entries));
  const stored = async () => {
    const rows = await world.db
      .selectFrom("auditChain")
      .innerJoin("auditLogs", "id", "auditId")
      .selectAll("auditLogs")
      .orderBy("chainId")
      .orderBy("chainSeq")
      .execute();
    return rows.map(({ checksum: _c, prevChecksum: _p, readerPartnerId: _r, ...row }) => ({
      ...row,
      timestamp: new Date(row.timestamp).toISOString(),
    }));
  };
  const until = async (condition: () => Promise<boolean>) => {
    const deadline = Date.now() + 10_000;
    while (!(await condition())) {
      if (Date.now() > deadline) throw new Error("did not happen in time");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const waiting = async () => (await world.db.selectFrom("auditOutbox").selectAll().execute()).length;

  beforeEach(async () => {
    world = await auditWorlds[dialect]();
  });
  afterEach(() => world.close());

  it("stores every field as it was given, in the order of the outbox", async () => {
    const entries = entriesOf(250, {
      resourceName: 'Größe "q" \\ \t\n\u0001 \u2028 日本 😀 \\N',
      details: { z: 1, a: { "b\u0000": "x\ud800", list: [1.0, 1e21, -0, null, true], deep: nested(60) } },
      actorId: "not-a-uuid",
      userAgent: null,
    });
    expect(JSON.parse(entries[0]!.details)).toMatchObject({ rawActorId: "not-a-uuid", replacedCharacters: true });
    await world.append(entries);
    const rows = await stored();
    expect(rows).toEqual(
      entries.map((entry) => Object.fromEntries(contentFields.map((field) => [field, entry[field]]))),
    );
    expect(await waiting()).toBe(0);
    expect(await world.verify(chain)).toMatchObject({ ok: true, entriesChecked: 250 });
  });

  it("cuts what is longer than its field before it is hashed, the largest details first, and says so", async () => {
    const long = `${"x".repeat(254)}\u{1F600}${"y".repeat(2_000)}`;
    const details = {
      small: "kept",
      large: "l".repeat(20_000),
      larger: ["m".repeat(30_000)],
      siteIds: ["s".repeat(25_000)],
    };
    const texts = { resourceName: long, actorEmail: long, resourceType: long, ipAddress: long, userAgent: long };
    await world.append([
      ...entriesOf(1, { ...texts, errorMessage: long, action: long, details }),
      ...entriesOf(1, { details: { whole: "w".repeat(32_000) } }),
    ]);
    const [cut, whole] = await stored();
    expect(JSON.parse(cut!.details)).toEqual({ small: "kept", siteIds: details.siteIds, truncated: true });
    const lengths = ["resourceName", "actorEmail", "resourceType", "ipAddress", "userAgent", "errorMessage", "action"];
    // A pair of surrogates goes as a whole.
    expect(lengths.map((name) => (cut as Record<string, string | null>)[name]?.length)).toEqual([
      254, 254, 50, 45, 512, 1_000, 100,
    ]);
    expect(cut!.resourceName?.isWellFormed()).toBe(true);
    expect(JSON.parse(whole!.details)).toEqual({ whole: "w".repeat(32_000) });
    expect(await world.verify(chain)).toMatchObject({ ok: true, entriesChecked: 2 });
  });

  it("writes nothing for a transaction that was rolled back", async () => {
    await expect(
      world.db.transaction().execute(async (trx) => {
        await enqueueAudit(trx, entriesOf(1));
        throw new Error("changed my mind");
      }),
    ).rejects.toThrow("changed my mind");
    await world.append(entriesOf(1));
    expect(await stored()).toHaveLength(1);
  });

  it("moves entries immediately after a wake, and without one within a poll", async () => {
    const writer = auditWriter(world.db, { ...world.writerOptions, pollMs: 200 });
    writer.start();
    await enqueue(entriesOf(1));
    writer.wake();
    await until(async () => (await waiting()) === 0);
    await enqueue(entriesOf(1));
    await until(async () => (await waiting()) === 0);
    await writer.stop();
    await enqueue(entriesOf(1));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await waiting()).toBe(1);
  });

  it("goes on after failures, without losing, doubling or reordering an entry", async () => {
    const failures: number[] = [];
    const entries = entriesOf(30);
    await enqueue(entries);
    await world.asOwner("alter table audit_logs rename to audit_logs_away");
    const writer = auditWriter(world.db, {
      ...world.writerOptions,
      backoffMaxMs: 200,
      onError: (_, attempt) => failures.push(attempt),
    });
    writer.start();
    await until(async () => failures.length >= 3);
    expect(failures.slice(0, 3)).toEqual([1, 2, 3]);
    expect(await waiting()).toBe(30);
    await world.asOwner("alter table audit_logs_away rename to audit_logs");
    await writer.drain(AbortSignal.timeout(10_000));
    await writer.stop();
    expect((await stored()).map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
    expect(await world.verify(chain)).toMatchObject({ ok: true });
  });

  it("goes on with every other chain while one entry cannot be stored, and in its order once it can", async () => {
    // More of them than a look at the outbox shows.
    const stuck = entriesOf(1_100);
    await enqueue(stuck);
    const others = [entriesOf(3, { orgId: orgAt(1) }), entriesOf(2, { orgId: null, partnerId: orgAt(2) })];
    for (const entries of [...others, entriesOf(1, { orgId: null })]) await enqueue(entries);
    const first = `insert into audit_logs (id, org_id, "timestamp", actor_type, action, details, result, checksum)`;
    const { id, checksum } = { id: stuck[0]!.id, checksum: contentHash(stuck[0]!) };
    await world.tamper(
      `${first} values ('${id}', null, '2026-01-01T00:00:00.000Z', 'user', 'x', '{}', 'success', '${checksum}')`,
    );
    const failures: [attempt: number, chain: string | undefined][] = [];
    const writer = auditWriter(world.db, {
      ...world.writerOptions,
      backoffMaxMs: 200,
      onError: (_, attempt, at) => failures.push([attempt, at?.id]),
    });
    writer.start();
    await until(async () => (await waiting()) === 1_100 && failures.length >= 3);
    expect(failures.slice(0, 3)).toEqual([1, 2, 3].map((attempt) => [attempt, ORG]));
    for (const odd of [others[0]!, others[1]!])
      expect((await stored()).map((row) => row.id)).toEqual(expect.arrayContaining(odd.map((entry) => entry.id)));
    await world.tamper(`delete from audit_logs where id = '${id}'`);
    await writer.drain(AbortSignal.timeout(20_000));
    await writer.stop();
    const own = (await stored()).filter(({ orgId }) => orgId === ORG);
    expect(own.map((row) => row.id)).toEqual(stuck.map((entry) => entry.id));
    expect(await world.verify(chain)).toMatchObject({ ok: true, entriesChecked: 1_100 });
  });

  it("lets a chain with one entry have its turn among thousands of another's", async () => {
    await enqueue(entriesOf(1_500));
    await enqueue(entriesOf(1, { orgId: orgAt(1) }));
    const moved: number[] = [];
    const writer = auditWriter(world.db, { ...world.writerOptions, onMoved: (entries) => moved.push(entries) });
    await writer.drain(AbortSignal.timeout(20_000));
    await writer.stop();
    expect(moved.slice(0, 3)).toEqual([100, 1, 100]);
    expect(moved.reduce((sum, entries) => sum + entries, 0)).toBe(1_501);
    expect(await world.verify(chain)).toMatchObject({ ok: true, entriesChecked: 1_500 });
  });

  it("gives up draining only when told to", async () => {
    await enqueue(entriesOf(1));
    const writer = auditWriter(world.db, { claim: async () => false });
    await expect(writer.drain(AbortSignal.timeout(200))).rejects.toThrow(/timeout/i);
    await writer.stop();
    expect(await waiting()).toBe(1);
  });

  it("never forks: many callers and two writers at once, one head per chain, no entry twice (C31)", async () => {
    const writers = [1, 2].map(() => auditWriter(world.db, { ...world.writerOptions, pollMs: 20 }));
    for (const writer of writers) writer.start();
    await Promise.all(
      Array.from({ length: 16 }, async (_, worker) => {
        for (let turn = 0; turn < 20; turn++) {
          await enqueue(entriesOf(1, { orgId: worker % 2 === 0 ? ORG : orgAt(worker % 8) }));
          writers[turn % 2]!.wake();
        }
      }),
    );
    for (const writer of writers) await writer.drain(AbortSignal.timeout(20_000));
    for (const writer of writers) await writer.stop();
    expect(await stored()).toHaveLength(320);
    expect(await world.verify(chain)).toMatchObject({ ok: true, entriesChecked: 160 });
    for (const odd of [1, 3, 5, 7])
      expect(await world.verify({ ...chain, id: orgAt(odd) })).toMatchObject({ ok: true, entriesChecked: 40 });
  });

  it.runIf(dialect === "postgres")("keeps one chain whole under direct concurrent inserts", async () => {
    // Sixteen transactions seal at once and stay open; only the lock of the sealing trigger stands between them.
    const insert = (entry: AuditContent) =>
      world.db.transaction().execute(async (trx) => {
        await trx
          .insertInto("auditLogs")
          .values({ ...entry, checksum: contentHash(entry) })
          .execute();
        await sql`set constraints all immediate`.execute(trx);
        await sql`select pg_sleep(0.01)`.execute(trx);
      });
    await Promise.all(entriesOf(16).map(insert));
    expect(await world.verify(chain)).toMatchObject({ ok: true, entriesChecked: 16 });
  });

  it("verifies intact at every moment while the log grows (C38)", async () => {
    const writer = auditWriter(world.db, { ...world.writerOptions, pollMs: 10 });
    writer.start();
    let growing = true;
    const growth = (async () => {
      while (growing) {
        await enqueue(entriesOf(5));
        writer.wake();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    for (let turn = 0; turn < 10; turn++) {
      expect(await world.verify(chain)).toMatchObject({ ok: true, breakCount: 0 });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    growing = false;
    await growth;
    await writer.drain(AbortSignal.timeout(20_000));
    await writer.stop();
  });
});

function nested(depth: number): unknown {
  return depth === 0 ? "bottom" : { [`level${depth}`]: nested(depth - 1) };
}
