import { escapeInvisible } from "#contract/core/characters";
import type { Elevation } from "#sdk/generated/models/index";
import { relativeTime } from "../../output/relative-time.ts";

const risks = ["none", "low", "medium", "high", "critical"];

const ways = {
  uac_intercept: "prompt on the device",
  tech_jit_admin: "asked by a technician",
  ai_tool_action: "a tool",
};

/** Everything that somebody decides on, a line each, with what nobody sees escaped; whoever prints it escapes controls. */
export function described(request: Elevation, nowMs: number): string[] {
  const { riskTier, requestedDurationMinutes: minutes } = request;
  const lines: [string, string | null | undefined][] = [
    ["Request", request.id],
    ["Device", request.deviceHostname],
    ["Site", request.siteName],
    ["User", request.subjectUsername || "(the agent's own account)"],
    ["Asked by", request.requestedByName],
    ["Came as", ways[request.flowType]],
    ["Reason", request.reason],
    ["Program", request.targetExecutablePath],
    [
      "Signer",
      request.flowType === "uac_intercept" ? (request.targetExecutableSigner ?? "none that is trusted") : null,
    ],
    ["Certificate", request.targetExecutableSignerThumbprint],
    ["SHA-256", request.targetExecutableHash],
    ["Started by", request.parentImage],
    ["Command line", request.commandLine],
    ["Rule", request.pamRuleName ?? request.matchedPolicyName],
    ["Risk", riskTier === null ? "medium (no tier is given)" : `${riskTier} (${risks[riskTier] ?? "unknown"})`],
    ["For", minutes === null ? null : `${minutes} minutes`],
    ["Asked", relativeTime(request.requestedAt, nowMs) ?? request.requestedAt],
    ["Time left", request.waitsUntil && leftOf(request.waitsUntil, nowMs)],
    ["Status", request.status],
  ];
  return lines.flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [`${name.padEnd(13)}${escapeInvisible(value)}`],
  );
}

/** Until nobody can decide any more. */
function leftOf(until: string, nowMs: number): string {
  const minutes = Math.floor((Date.parse(until) - nowMs) / 60_000);
  if (minutes < 0) return "none: it expires now";
  return minutes === 0 ? "less than a minute" : `${minutes} minute${minutes === 1 ? "" : "s"}`;
}
