import type { Endpoint } from "#contract/core/endpoint";
import type { auditLogs } from "#contract/resources/audit/audit-logs";
import { takeAttempt } from "#server/access/attempts";
import { listAnchors, takeAnchor } from "#server/audit/anchors";
import type { ChainRef } from "#server/audit/chain";
import { auditHandle } from "#server/audit/handle";
import { anchorOptions, anchorPublicKey, verifyOptions } from "#server/audit/keeper";
import { verifyInWorker } from "#server/audit/verify-in-worker";
import type { AuditVerify } from "#server/audit/verify-result";
import { asSystem } from "#server/db/as-system";
import { type Call, user } from "#server/http/call";
import { problem } from "#server/problem";
import type { Services } from "#server/services";
import { chosenChain } from "./chain.ts";

type VerifyCall = typeof auditLogs.verify extends Endpoint<infer T> ? Call<T> : never;
type AnchorsCall = typeof auditLogs.anchors extends Endpoint<infer T> ? Call<T> : never;

/** Per user. */
export const verifyLimit = { name: "audit-verify", max: 30, windowSeconds: 3_600 };

/** Verifies a chain in a separate thread; a broken chain is an answer, not an error (docs/audit.md, "Verification"). */
export async function verifyAuditChain(call: VerifyCall): Promise<AuditVerify> {
  const chain = await chosenChain(call, call.body);
  await takeAttempt(call.services, verifyLimit, user(call).userId);
  call.audit.note({ owner: ownerOf(chain), resource: { type: "audit_chain", id: chain.id, name: chain.kind } });
  const result = await verifyOne(call.services, chain);
  call.audit.note({
    details: { ok: result.ok, entriesChecked: result.entriesChecked, breakCount: result.breakCount },
  });
  return result;
}

/** Verifies and, if the chain is intact, anchors the head that was found (docs/audit.md, "Anchors"). */
export async function verifyOne(services: Services, chain: ChainRef): Promise<AuditVerify> {
  for await (const result of verifyInWorker(verifyOptions(services), [chain])) {
    if (!result.ok) {
      services.log.error("audit.chain_broken", {
        chain,
        breakCount: result.breakCount,
        breaks: result.breaks.slice(0, 5),
      });
      return result;
    }
    const anchor = await takeAnchor(auditHandle(asSystem(services, "write audit chain")), chain, {
      ...anchorOptions(services),
      head: result.head,
    });
    return anchor ? { ...result, anchors: { ...result.anchors, latest: anchor } } : result;
  }
  throw problem("INTERNAL_ERROR", { cause: "the verifier ended without a result" });
}

/** Anchors of a chain, newest first, with the key that proves them. */
export async function listChainAnchors(call: AnchorsCall) {
  const chain = await chosenChain(call, call.query);
  const { page, limit } = call.query;
  const [data, total] = await call.readAsSystem("read audit chain", async (db) => {
    const handle = auditHandle(db as Parameters<typeof auditHandle>[0]);
    const counted = await handle
      .selectFrom("auditAnchors")
      .select((eb) => eb.fn.countAll<number>().as("total"))
      .where("chainKind", "=", chain.kind)
      .where("chainId", "=", chain.id)
      .executeTakeFirstOrThrow();
    return [await listAnchors(handle, chain, { limit, offset: (page - 1) * limit }), Number(counted.total)] as const;
  });
  return { data, pagination: { page, limit, total }, publicKey: anchorPublicKey(call.services) };
}

const ownerOf = (chain: ChainRef) =>
  chain.kind === "organization" ? { orgId: chain.id } : chain.kind === "partner" ? { partnerId: chain.id } : {};
