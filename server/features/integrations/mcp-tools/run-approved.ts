import { isToolName, tools } from "#contract/core/tools";
import { mcpTools } from "#contract/resources/integrations/mcp-tools";
import { loadKeyById } from "#server/access/load-api-key";
import type { ApiKeyPrincipal } from "#server/access/principal";
import { asSystem } from "#server/db/as-system";
import { shared } from "#server/db/dialect/locks";
import { word } from "#server/db/dialect/text";
import { claimCall } from "#server/features/access-control/elevation-requests/claim-call";
import { refuseOutOfUse } from "#server/features/access-control/elevation-requests/hold";
import { type Execution, executions, finishExecution } from "#server/features/access-control/tool-executions/store";
import type { Call } from "#server/http/call";
import { leavesEntry, runFrame, toldProblem } from "#server/http/frame";
import { problem } from "#server/problem";
import type { Services } from "#server/services";
import { noteAgent, outcomeOf, told } from "./call-tool.ts";
import { digestOf, targetsOf } from "./digest.ts";
import { endUnrun } from "./end-unrun.ts";
import { holdsScope } from "./key.ts";
import { noteCall } from "./note-call.ts";
import { runTool, type ToolCall, tierOf, undoable } from "./run-tool.ts";
import { readCall } from "./send.ts";

const REASON = "decide elevations";

/** The request whose call was approved. */
interface Approved {
  readonly id: string;
  readonly orgId: string;
}

/**
 * Runs an approved call, once: whoever takes it on has it, and what it does commits with its end. One that is left
 * between the two never runs again (docs/mcp.md, "Approval").
 */
export async function runApproved(services: Services, { id, orgId }: Approved): Promise<void> {
  const db = asSystem(services, REASON);
  const execution = await executions(db)
    .where("toolExecutions.elevationRequestId", "=", id)
    .where("toolExecutions.orgId", "=", orgId)
    .executeTakeFirst();
  if (execution?.status !== "approved") return;
  if (!(await db.transaction().execute((tx) => claimCall(tx, services, execution)))) return;
  await runClaimed(services, execution);
}

/** Of one that this process has taken on. Whatever keeps it from running is its end. */
export async function runClaimed(services: Services, execution: Execution): Promise<void> {
  let isNoted = false;
  try {
    const who = await admitted(services, execution);
    await run(services, execution, { who, noted: () => (isNoted = true) });
  } catch (error) {
    const told = toldProblem(services, { requestId: execution.id }, error);
    // A refusal leaves its own entry once it is known what of, unless it is of a kind that leaves none to a caller.
    await endUnrun(services, execution, { told, isRecorded: isNoted && leavesEntry(told) });
  }
}

/** The key as it is now: what it may no longer ask for is not done for it. */
async function admitted(services: Services, { apiKeyId, orgId, toolName }: Execution): Promise<ApiKeyPrincipal> {
  const who = await loadKeyById(services, apiKeyId);
  if (who.orgId !== orgId) throw problem("API_KEY_INVALID");
  if (who.partnerStatus !== "active") throw problem("PARTNER_INACTIVE", { details: { status: who.partnerStatus } });
  if (toolName === null || !isToolName(toolName)) throw problem("NOT_FOUND");
  if (!holdsScope(who, tools[toolName].scope)) throw problem("API_KEY_SCOPE_REQUIRED");
  return who;
}

/** As a message of the key, without one that waits for the answer. `noted`: its entry says what it is of. */
async function run(
  services: Services,
  execution: Execution,
  { who, noted }: { who: ApiKeyPrincipal; noted: () => unknown },
): Promise<void> {
  const message = { name: execution.toolName, arguments: execution.toolInput };
  const facts = { ip: null, userAgent: null, path: mcpTools.send.path, search: "", origin: "http://localhost" };
  await runFrame(
    services,
    { endpoint: mcpTools.send, handler: (call) => runHeld(call, execution, noted) },
    {
      who,
      facts: { ...facts, requestId: execution.id, caller: who },
      gone: new AbortController().signal,
      params: {},
      body: { jsonrpc: "2.0", id: execution.id, method: "tools/call", params: message },
    },
  );
}

/** Everything that the approval was about is looked at again, and what it says is held until what was done commits. */
async function runHeld(call: Call, execution: Execution, noted: () => unknown): Promise<unknown> {
  const asked = readCall((call.body as { params: Record<string, unknown> }).params);
  if ("error" in asked) throw problem("VALIDATION_ERROR", { message: asked.error.message });
  const targets = targetsOf(asked.input);
  const [actionDigest, riskTier] = [digestOf({ tool: asked.name, input: asked.input, targets }), tierOf(asked)];
  return call.transaction(async () => {
    await noteCall(call, { name: asked.name, targets, actionDigest, riskTier });
    const { id, elevationRequestId } = execution;
    call.audit.note({ details: { toolExecutionId: id, elevationRequestId } });
    noteAgent(call);
    noted();
    const ran = flat(await undoable(call, (own) => runAsDecided(own, { asked, execution, actionDigest, riskTier })));
    const ended = await call.asSystem(REASON, (tx) => finishExecution(tx, call.services, { id, ...outcomeOf(ran) }));
    // Somebody has said already that nobody knows: so nothing of it stays.
    if (!ended) throw new Error("the call was given up while it ran");
    return told(call, ran);
  });
}

interface Decided {
  readonly asked: ToolCall;
  readonly execution: Execution;
  readonly actionDigest: string;
  readonly riskTier: number;
}

async function runAsDecided(call: Call, { asked, execution, actionDigest, riskTier }: Decided) {
  await call.asSystem(REASON, async (tx) => {
    await refuseOutOfUse(tx, call.services, execution.orgId);
    const key = tx.selectFrom("apiKeys").select("id").where("id", "=", execution.apiKeyId);
    const active = key.where("status", "=", word("active"));
    if (!(await shared(active, call.services.store.dialect).executeTakeFirst())) throw problem("API_KEY_REVOKED");
  });
  const sameTargets = execution.toolTargets?.every(({ deviceId }) => targetsOf(asked.input).includes(deviceId));
  if (actionDigest !== execution.actionDigest || riskTier !== execution.riskTier || !sameTargets)
    throw problem("CONCURRENT_MODIFICATION", { message: "This is not what was approved" });
  return runTool(call, asked);
}

const flat = (ran: Awaited<ReturnType<typeof undoable<Awaited<ReturnType<typeof runTool>>>>>) =>
  "done" in ran ? ran.done : ran;
