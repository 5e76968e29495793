import { afterEach, beforeEach, expect, it } from "vitest";
import { type AuditWorld, auditWorlds, entriesOf } from "../test/audit-world.ts";

/** What only the owner of the tables can do: take away keys and make columns another type. */
const ORG = "0190c0de-0000-7000-8000-00000000000a";
const chain = { kind: "organization", id: ORG } as const;
const seqOf = (seq: number) => `chain_id = '${ORG}' and chain_seq = ${seq}`;
const rowOf = (seq: number) => `id = (select audit_id from audit_chain where ${seqOf(seq)})`;
const withoutKeys = (table: string) => `do $$ declare c record; begin
  for c in select conname from pg_constraint where conrelid = 'public.${table}'::regclass and contype in ('u', 'p', 'c') loop
    execute format('alter table public.${table} drop constraint %I cascade', c.conname);
  end loop; end $$`;

let world: AuditWorld;
beforeEach(async () => {
  world = await auditWorlds.postgres();
  await world.append(entriesOf(10));
});
afterEach(() => world.close());

const told = async (...attack: string[]) => {
  await world.tamper(...attack);
  const { ok, entriesChecked, breaks } = await world.verify(chain);
  return { ok, entriesChecked, kinds: breaks.map(({ kind, chainSeq }) => `${kind}@${chainSeq}`), breaks };
};

it("a position that is there twice hides nothing behind the one that is missing", async () => {
  const { ok, entriesChecked, kinds } = await told(
    withoutKeys("audit_chain"),
    `update audit_chain set chain_seq = 4 where ${seqOf(5)}`,
    `update audit_chain set chain_hash = '\\x00', prev_hash = '\\x00' where chain_seq > 5`,
  );
  expect([ok, entriesChecked]).toEqual([false, 10]);
  expect(kinds).toContain("sequence_gap@6");
  expect(kinds).toContain("chain_hash_mismatch@10");
});

it.each(["chain_seq", "audit_id"])("an empty %s hides nothing", async (column) => {
  const { ok, entriesChecked } = await told(
    withoutKeys("audit_chain"),
    `alter table audit_chain alter ${column} drop not null`,
    `update audit_chain set ${column} = null where ${seqOf(5)}`,
  );
  expect([ok, entriesChecked]).toEqual([false, 10]);
});

it("positions that are rounded when they are read are none", async () => {
  const { ok } = await told(
    withoutKeys("audit_chain"),
    "alter table audit_chain alter chain_seq type numeric",
    `update audit_chain set chain_seq = 5.4 where ${seqOf(5)}`,
  );
  expect(ok).toBe(false);
});

it("a type of the owner's own, whose text says something else than it holds, does not verify", async () => {
  const { ok, kinds } = await told(
    "create type public.shown as enum ('organization.update', 'forged')",
    `create function public.lie(public.shown) returns text language sql immutable as $$ select 'organization.update' $$`,
    "create cast (public.shown as text) with function public.lie(public.shown)",
    withoutKeys("audit_logs"),
    "alter table audit_logs alter action type public.shown using action::text::public.shown",
    `update audit_logs set action = 'forged' where ${rowOf(4)}`,
  );
  expect([ok, kinds.length]).toEqual([false, 10]);
});

it("a type that pads its texts does not verify", async () => {
  expect((await told("alter table audit_logs alter action type char(60)")).ok).toBe(false);
});

it("what is no hash is neither kept nor told, however long it is", async () => {
  const { ok, breaks } = await told(
    withoutKeys("audit_chain"),
    "update audit_chain set chain_hash = decode(repeat('00', 1000000), 'hex')",
  );
  expect(ok).toBe(false);
  expect(JSON.stringify(breaks).length).toBeLessThan(20_000);
});
