import { held } from "#server/db/dialect/locks";
import { word } from "#server/db/dialect/text";
import type { Tx } from "#server/db/unit-of-work";
import { decideCall } from "#server/features/access-control/core/decision/decide-call";
import {
  holdMachine,
  refuseOutOfService,
  refuseOutOfUse,
} from "#server/features/access-control/elevation-requests/hold";
import { type AskedCall, storeCall } from "#server/features/access-control/elevation-requests/store-call";
import { pendingLimit } from "#server/features/access-control/tool-executions/rules";
import { type Execution, executions } from "#server/features/access-control/tool-executions/store";
import type { Call } from "#server/http/call";
import { problem } from "#server/problem";
import { keyOf } from "./key.ts";

/** A call from the first tier that changes something on. */
export interface Risky {
  readonly toolName: string;
  readonly input: object;
  readonly actionDigest: string;
  readonly riskTier: number;
  readonly deviceId: string;
}

export type Gated =
  | { readonly kind: "runs" }
  /** The same call waits, or runs, already. */
  | { readonly kind: "known"; readonly execution: Execution }
  | {
      readonly kind: "decided";
      readonly decision: AskedCall["decision"];
      readonly key: AskedCall["key"];
      readonly siteId: string | null;
    };

/**
 * What the organization's rules say to a call (docs/privileged-access.md, "Risk tiers"). Organization and key are held, so
 * that calls of one key are counted one after another. Needs an unscoped transaction.
 */
export async function judgeCall(call: Call, tx: Tx, risky: Risky): Promise<Gated> {
  const { services } = call;
  const { keyId, orgId } = keyOf(call);
  await refuseOutOfUse(tx, services, orgId);
  const key = await holdKey(call, tx);
  const known = await findOpen(tx, keyId, risky.actionDigest);
  if (known) return { kind: "known", execution: known };
  const device = await tx
    .selectFrom("devices")
    .select("siteId")
    .where("id", "=", risky.deviceId)
    .where("orgId", "=", orgId)
    .executeTakeFirst();
  if (!device) throw problem("NOT_FOUND");
  const candidate = {
    ...nothing,
    orgId,
    siteId: device.siteId,
    deviceId: risky.deviceId,
    receivedAt: call.clock.now(),
  };
  const about = { subjectUsername: `key:${keyId}`, toolName: risky.toolName, riskTier: risky.riskTier };
  const action = { candidate: { ...candidate, ...about }, targetSiteIds: [device.siteId] };
  const decision = await decideCall(tx, action, services);
  if (decision.verdict === "runs") return { kind: "runs" };
  if (decision.verdict === "ignored") throw new Error("no rule ignores calls of tools");
  return { kind: "decided", decision: decision as AskedCall["decision"], key, siteId: device.siteId };
}

const nothing = {
  flowType: "ai_tool_action",
  subjectGroups: [],
  targetExecutablePath: null,
  targetExecutableHash: null,
  targetExecutableSigner: null,
  targetExecutableSignerThumbprint: null,
  targetPublisher: null,
  parentImage: null,
  commandLine: null,
} as const;

/** The key as it is now: one that was revoked meanwhile asks for nothing. */
async function holdKey(call: Call, tx: Tx): Promise<AskedCall["key"]> {
  const { keyId, keyHash } = keyOf(call);
  const row = tx
    .selectFrom("apiKeys")
    .select(["id", "name", "keyPrefix", "createdBy", "issuedBy"])
    .where("id", "=", keyId)
    .where("keyHash", "=", keyHash)
    .where("status", "=", word("active"));
  const key = await held(row, call.services.store.dialect).executeTakeFirst();
  if (!key) throw problem("API_KEY_INVALID");
  return { id: key.id, label: `${key.name} (${key.keyPrefix})`, issuedBy: key.issuedBy ?? key.createdBy };
}

const findOpen = (tx: Tx, keyId: string, digest: string): Promise<Execution | undefined> =>
  executions(tx)
    .where("toolExecutions.apiKeyId", "=", keyId)
    .where("toolExecutions.status", "in", [word("pending"), word("approved"), word("executing")])
    .where("elevationRequests.actionDigest", "=", digest)
    .executeTakeFirst();

/** Stores a call that does not simply run. The device is held as it was judged. */
export async function keepCall(
  call: Call,
  tx: Tx,
  { risky, gated }: { risky: Risky; gated: Gated & { kind: "decided" } },
) {
  const { decision, key, siteId } = gated;
  const machine = await holdMachine(tx, call.services, risky.deviceId);
  if (machine?.orgId !== keyOf(call).orgId) throw problem("NOT_FOUND");
  if (machine.siteId !== siteId) throw problem("CONCURRENT_MODIFICATION");
  if (decision.verdict === "pending") {
    refuseOutOfService(machine);
    await refuseTooMany(tx, key.id);
  }
  const executionId = call.random.uuid();
  const elevation = await storeCall(call, tx, {
    ...risky,
    ...{ executionId, key, machine, decision },
    input: risky.input as never,
  });
  return { executionId, elevation };
}

async function refuseTooMany(tx: Tx, keyId: string): Promise<void> {
  const { count } = await tx
    .selectFrom("toolExecutions")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("apiKeyId", "=", keyId)
    .where("status", "=", word("pending"))
    .executeTakeFirstOrThrow();
  const { name, max } = pendingLimit;
  if (Number(count) >= max) throw problem("RATE_LIMITED", { details: { limit: name, max }, retryAfterSeconds: 60 });
}
