import type { Endpoint } from "#contract/core/endpoint";
import type { auditLogs } from "#contract/resources/audit/audit-logs";
import { type ChainStatement, isPrune } from "#server/audit/anchor-format";
import type { ChainRef } from "#server/audit/chain";
import { anchorPublicKey, trustedAnchorKeys } from "#server/audit/keeper";
import { countStatements, latestStatement, listStatements } from "#server/audit/statements";
import type { Call } from "#server/http/call";
import { chainsInReach, chosenChain, readChains } from "./chain.ts";

type AnchorsCall = typeof auditLogs.anchors extends Endpoint<infer T> ? Call<T> : never;

/**
 * Anchors and prune records of a chain, newest first, with the keys that prove them; with `each` the newest one of
 * every chain in reach.
 */
export async function listChainAnchors(call: AnchorsCall) {
  const { page, limit, each, ...selector } = call.query;
  const offset = (page - 1) * limit;
  const keys = { publicKey: anchorPublicKey(call.services), publicKeys: trustedAnchorKeys(call.services) };
  if (each) {
    const chains = await chainsInReach(call);
    const data = await newestOf(call, chains.slice(offset, offset + limit));
    return { data, pagination: { page, limit, total: chains.length }, ...keys };
  }
  const chain = await chosenChain(call, selector);
  return readChains(call, async (db) => {
    const total = await countStatements(db, chain);
    const data = (await listStatements(db, chain, { limit, offset })).map(listed);
    return { data, pagination: { page, limit, total }, ...keys };
  });
}

const newestOf = (call: Call, chains: readonly ChainRef[]) =>
  readChains(call, async (db) => {
    const items = [];
    for (const chain of chains) {
      const statement = await latestStatement(db, chain);
      items.push(statement ? listed(statement) : ({ type: "none", chainKind: chain.kind, chainId: chain.id } as const));
    }
    return items;
  });

const listed = (statement: ChainStatement) =>
  isPrune(statement) ? statement : { type: "anchor" as const, ...statement };
