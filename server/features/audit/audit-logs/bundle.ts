import type { Endpoint } from "#contract/core/endpoint";
import type { auditLogs } from "#contract/resources/audit/audit-logs";
import { takeAttempt } from "#server/access/attempts";
import type { Limit } from "#server/access/rate-limit";
import { exportBundle } from "#server/audit/bundle";
import { bundleParts } from "#server/audit/bundle-source";
import { auditHandle } from "#server/audit/handle";
import { anchorPublicKey } from "#server/audit/keeper";
import { asSystem } from "#server/db/as-system";
import { type Call, user } from "#server/http/call";
import { StreamedAnswer } from "#server/http/implement";
import { chosenChain } from "./chain.ts";

type BundleCall = typeof auditLogs.bundle extends Endpoint<infer T> ? Call<T> : never;

/** Per user: a chain is read whole. */
export const bundleLimit: Limit = { name: "audit-bundle", max: 20, windowSeconds: 3_600 };

/**
 * A whole chain, with its anchors and prune records, as lines that are verified without the server (docs/audit.md,
 * "Bundles"). Only a bundle with its last line is one: whatever fails ends the answer before it.
 */
export async function exportChainBundle(call: BundleCall): Promise<never> {
  const chain = await chosenChain(call, call.query);
  await takeAttempt(call.services, bundleLimit, user(call).userId);
  call.audit.note({ details: { format: "bundle", chainKind: chain.kind, chainId: chain.id } });
  const day = call.clock.now().slice(0, 10);
  call.setHeader("Content-Disposition", `attachment; filename="audit-${chain.kind}-${chain.id}-${day}.ndjson"`);
  const db = auditHandle(asSystem(call.services, "export audit bundle"));
  const options = { now: new Date(call.clock.nowMs()), publicKey: anchorPublicKey(call.services) };
  const lines = exportBundle(bundleParts(db, chain, options));
  // The pipeline knows the type; what the contract names is the text that it makes.
  return new StreamedAnswer("application/x-ndjson; charset=utf-8", inParts(lines)) as never;
}

const PART = 64 * 1024;

async function* inParts(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let part = "";
  for await (const line of lines) {
    part += line;
    if (part.length < PART) continue;
    yield part;
    part = "";
  }
  yield part;
}
