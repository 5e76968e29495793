import { escapeInvisible } from "./characters.ts";
import type { elevationFlows, elevationStatuses } from "./elevation.ts";

const risks = ["none", "low", "medium", "high", "critical"];

const ways: Record<(typeof elevationFlows)[number], string> = {
  uac_intercept: "prompt on the device",
  tech_jit_admin: "asked by a technician",
  ai_tool_action: "a tool",
};

type Text = string | null;

/** What of a request is told to whoever decides. */
export interface DecidedOn {
  readonly id: string;
  readonly deviceHostname: Text;
  readonly siteName: Text;
  readonly subjectUsername: string;
  readonly requestedByName: Text;
  readonly flowType: (typeof elevationFlows)[number];
  readonly status: (typeof elevationStatuses)[number];
  readonly reason: Text;
  readonly targetExecutablePath: Text;
  readonly targetExecutableSigner: Text;
  readonly targetExecutableSignerThumbprint: Text;
  readonly targetExecutableHash: Text;
  readonly parentImage: Text;
  readonly commandLine: Text;
  readonly pamRuleName: Text;
  readonly matchedPolicyName: Text;
  readonly riskTier: number | null;
  readonly requestedDurationMinutes: number | null;
}

/**
 * Everything that somebody decides on, a name and a value each, with what nobody sees escaped. The terminal and the page
 * on which a device signs show the same. `asked`: when it was, in words.
 */
export function elevationFacts(request: DecidedOn, asked: string): { name: string; value: string }[] {
  const { riskTier, requestedDurationMinutes: minutes, targetExecutableSigner: signer } = request;
  const facts: [string, Text][] = [
    ["Request", request.id],
    ["Device", request.deviceHostname],
    ["Site", request.siteName],
    ["User", request.subjectUsername || "(the agent's own account)"],
    ["Asked by", request.requestedByName],
    ["Came as", ways[request.flowType]],
    ["Reason", request.reason],
    ["Program", request.targetExecutablePath],
    ["Signer", request.flowType === "uac_intercept" ? (signer ?? "none that is trusted") : null],
    ["Certificate", request.targetExecutableSignerThumbprint],
    ["SHA-256", request.targetExecutableHash],
    ["Started by", request.parentImage],
    ["Command line", request.commandLine],
    ["Rule", request.pamRuleName ?? request.matchedPolicyName],
    ["Risk", riskTier === null ? "medium (no tier is given)" : `${riskTier} (${risks[riskTier] ?? "unknown"})`],
    ["For", minutes === null ? null : `${minutes} minutes`],
    ["Asked", asked],
    ["Status", request.status],
  ];
  return facts.flatMap(([name, value]) => (typeof value === "string" ? [{ name, value: escapeInvisible(value) }] : []));
}
