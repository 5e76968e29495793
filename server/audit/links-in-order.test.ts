import { expect, it } from "vitest";
import { type AuditWorld, auditWorlds, entriesOf } from "../test/audit-world.ts";
import type { ChainLink, ChainRef } from "./chain.ts";
import { LinksInOrder, WAITING_MAX } from "./links-in-order.ts";
import { postgresChainSource } from "./postgres-source.ts";
import { verifyChain } from "./verify.ts";

const link = (chainSeq: number): ChainLink => ({
  ...{ chainSeq, auditId: `entry ${chainSeq}`, contentHash: "c", prevHash: null, chainHash: "h" },
});

function handed(order: readonly number[], first: number, waitingMax = WAITING_MAX) {
  const out: number[] = [];
  const links = new LinksInOrder(first, ({ chainSeq }) => void out.push(chainSeq), waitingMax);
  for (const seq of order) links.add(link(seq));
  return { out, links };
}

it("links that change places are handed on by rising position, each once", () => {
  const { out, links } = handed([7, 5, 6, 10, 9, 8, 11], 5);
  expect(out).toEqual([5, 6, 7, 8, 9, 10, 11]);
  expect([links.next, links.gaveUp]).toEqual([12, false]);
});

it("where too many come too early, what is left begins at the next position, and nothing of it was handed on", () => {
  const { out, links } = handed([5, 9, 8, 7, 6], 5, 2);
  expect(out).toEqual([5]);
  expect([links.next, links.gaveUp]).toEqual([6, true]);
});

const ENTRIES = 12;
const chain: ChainRef = { kind: "organization", id: "0190c0de-0000-7000-8000-00000000000a" };
const idOf = (seq: number) => `0190c0de-0000-7000-8000-${String(900 - seq).padStart(12, "0")}`;

/** A chain in a database whose ids fall while its positions rise, so that all but the last link come too early. */
async function verdicts(tamper: (world: AuditWorld) => Promise<void>, waitingMax: number) {
  const world = await auditWorlds.postgres();
  try {
    await world.append(entriesOf(ENTRIES).map((entry, index) => ({ ...entry, id: idOf(index + 1) })));
    await tamper(world);
    const { url } = world.database as { url: string };
    const source = await postgresChainSource(url, chain, waitingMax);
    const handed: number[] = [];
    const counted: typeof source = {
      ...source,
      walk(visitor) {
        const link = (of: ChainLink) => {
          handed.push(of.chainSeq);
          visitor.link(of);
        };
        return source.walk({ ...visitor, link });
      },
    };
    const { ok, entriesChecked, breaks } = await verifyChain(counted).finally(() => source.close());
    return { ok, entriesChecked, handed, breaks: breaks.map(({ kind, chainSeq }) => `${kind}@${chainSeq}`) };
  } finally {
    await world.close();
  }
}

const positions = Array.from({ length: ENTRIES }, (_, index) => index + 1);

it.each([
  ["fit", ENTRIES],
  ["do not fit, and are read again", 3],
  ["do not fit but for one", ENTRIES - 2],
])("links of a chain in Postgres that are out of order and %s verify, each once", async (_, waitingMax) => {
  const untouched = async () => undefined;
  expect(await verdicts(untouched, waitingMax)).toEqual({
    ...{ ok: true, entriesChecked: ENTRIES, handed: positions, breaks: [] },
  });
});

it("a chain whose links are read again shows every change, as one that is read once does", async () => {
  const hash = "decode(repeat('ab', 32), 'hex')";
  const changed = (world: AuditWorld) =>
    world.tamper(
      `update audit_chain set prev_hash = ${hash} where chain_seq = 2`,
      `update audit_chain set chain_hash = ${hash} where chain_seq = 6`,
      `update audit_chain set content_hash = ${hash} where chain_seq = 9`,
      `update audit_logs set result = 'denied' where id = '${idOf(4)}'`,
      `delete from audit_logs where id = '${idOf(11)}'`,
    );
  const again = await verdicts(changed, 3);
  expect(again).toEqual(await verdicts(changed, ENTRIES));
  expect(again).toMatchObject({ ok: false, handed: positions });
  expect(again.breaks.toSorted()).toEqual(
    [
      ...["link_mismatch@2", "chain_hash_mismatch@2", "content_mismatch@4", "chain_hash_mismatch@6"],
      ...["link_mismatch@7", "chain_hash_mismatch@9", "content_mismatch@9", "missing_row@11"],
    ].toSorted(),
  );
  const gap = (world: AuditWorld) => world.tamper("delete from audit_chain where chain_seq = 5");
  expect(await verdicts(gap, 3)).toEqual(await verdicts(gap, ENTRIES));
  expect((await verdicts(gap, 3)).breaks).toContain("sequence_gap@6");
});
