import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AuditWorld, auditWorlds, entriesOf } from "../test/audit-world.ts";
import { type AuditContent, type ChainRef, contentHash } from "./chain.ts";
import { enqueueAudit, missingFromOutbox } from "./outbox.ts";
import { auditWriter } from "./writer.ts";

const ORG = "0190c0de-0000-7000-8000-00000000000a";
const chain: ChainRef = { kind: "organization", id: ORG };

/** A rule of the log that an entry does not keep. */
const rules = {
  sqlite: {
    set: `create trigger no_poison before insert on audit_logs when new.details like '%poison%'
      begin select raise(abort, 'no poison'); end`,
    drop: "drop trigger no_poison",
    code: "SQLITE_CONSTRAINT_TRIGGER",
  },
  postgres: {
    set: "alter table audit_logs add constraint no_poison check (details not like '%poison%')",
    drop: "alter table audit_logs drop constraint no_poison",
    code: "23514",
  },
};

describe.each(["sqlite", "postgres"] as const)("audit entries that the database refuses on %s", (dialect) => {
  let world: AuditWorld;
  let entries: AuditContent[];
  const rule = rules[dialect];

  beforeEach(async () => {
    world = await auditWorlds[dialect]();
    entries = [...entriesOf(3), ...entriesOf(1, { details: { text: "poison" } }), ...entriesOf(2)];
    await world.asOwner(rule.set);
    await world.db.transaction().execute((trx) => enqueueAudit(trx, entries));
  });
  afterEach(() => world.close());

  const stored = () =>
    world.db
      .selectFrom("auditChain")
      .innerJoin("auditLogs", "id", "auditId")
      .selectAll("auditLogs")
      .orderBy("chainSeq")
      .execute();

  it("are stored after five refusals, in their place, with the reason and the hash of what they said", async () => {
    const failures: [attempt: number, chain: string | undefined][] = [];
    const unwritable: unknown[] = [];
    const writer = auditWriter(world.db, {
      ...world.writerOptions,
      backoffMaxMs: 20,
      onError: (_, attempt, at) => failures.push([attempt, at?.id]),
      onUnwritable: (error, at) => unwritable.push([(error as { code?: string }).code, at]),
    });
    await writer.drain(AbortSignal.timeout(20_000));
    await writer.stop();
    expect(failures).toEqual([1, 2, 3, 4, 5].map((attempt) => [attempt, ORG]));
    expect(unwritable).toEqual([[rule.code, chain]]);
    const rows = await stored();
    expect(rows.map(({ id }) => id)).toEqual(entries.map(({ id }) => id));
    const poison = entries[3] as AuditContent;
    expect(JSON.parse(rows[3]?.details as string)).toEqual({
      writeError: { code: rule.code, contentHash: contentHash(poison) },
    });
    const { actorId, action, resourceId, result } = poison;
    expect(rows[3]).toMatchObject({ actorId, action, resourceId, result, actorEmail: null, resourceName: null });
    expect(rows.map(({ details }) => details).filter((_, index) => index !== 3)).toEqual(
      entries.map(({ details }) => details).filter((_, index) => index !== 3),
    );
    expect(await missingFromOutbox(world.db)).toBe(0);
    expect(await world.verify(chain)).toMatchObject({ ok: true, entriesChecked: 6 });
  });

  it("are stored whole where the database takes them before that", async () => {
    let failures = 0;
    const writer = auditWriter(world.db, {
      ...world.writerOptions,
      backoffMaxMs: 500,
      onError: () => {
        failures += 1;
        if (failures === 3) void world.asOwner(rule.drop);
      },
    });
    await writer.drain(AbortSignal.timeout(20_000));
    await writer.stop();
    expect((await stored()).map(({ checksum }) => checksum)).toEqual(entries.map(contentHash));
  });

  it("wait where the trouble is the database's own, however often it fails", async () => {
    const failures: number[] = [];
    const full = Object.assign(new Error("no room"), { code: dialect === "sqlite" ? "SQLITE_FULL" : "53100" });
    let isFull = true;
    const writer = auditWriter(world.db, {
      ...world.writerOptions,
      backoffMaxMs: 10,
      partnerOf: async () => {
        if (isFull) throw full;
        return null;
      },
      onError: (_, attempt) => failures.push(attempt),
    });
    await world.asOwner(rule.drop);
    writer.start();
    await expect.poll(() => failures.length, { timeout: 10_000, interval: 20 }).toBeGreaterThan(8);
    expect(await stored()).toEqual([]);
    isFull = false;
    await writer.drain(AbortSignal.timeout(20_000));
    await writer.stop();
    expect((await stored()).map(({ checksum }) => checksum)).toEqual(entries.map(contentHash));
  });

  it("leave the outbox for nothing that lacks the hash of what they said", async () => {
    const poison = entries[3] as AuditContent;
    const remove = () => world.asApp(`delete from audit_outbox where audit_id = '${poison.id}'`);
    await expect(remove()).rejects.toThrow("leaves the outbox for the log alone");
    const ofAnother = contentHash(entries[0] as AuditContent);
    const details = JSON.stringify({ writeError: { code: rule.code, contentHash: ofAnother } });
    const row = { ...poison, details };
    await world.db
      .insertInto("auditLogs")
      .values({ ...row, checksum: contentHash(row) })
      .execute();
    await expect(remove()).rejects.toThrow("leaves the outbox for the log alone");
    const waiting = await world.db.selectFrom("auditOutbox").select("id").execute();
    expect(waiting).toHaveLength(6);
  });
});
