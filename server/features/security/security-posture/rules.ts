import type { protectionStatuses, riskLevels } from "#contract/resources/security/security-posture";

type Level = (typeof riskLevels)[number];

interface Facts {
  readonly realTimeProtection: boolean | null;
  readonly firewallEnabled: boolean | null;
  readonly encryptionStatus: string | null;
  /** Active and allowed ones. */
  readonly threatCount: number;
}

export interface Judged {
  readonly status: Exclude<(typeof protectionStatuses)[number], "offline"> | null;
  readonly riskLevel: Level | null;
}

/**
 * What the facts say of a device (docs/security.md, "Status"). A fact that nobody reported counts nothing; without one
 * that says that it is protected, it is not called so.
 */
export function judge({ realTimeProtection, firewallEnabled, encryptionStatus, threatCount }: Facts): Judged {
  const points =
    (realTimeProtection === false ? 2 : 0) +
    (firewallEnabled === false ? 1 : 0) +
    (encryptionStatus === "unencrypted" ? 1 : 0) +
    Math.min(3, threatCount);
  if (points >= 5) return { status: "unprotected", riskLevel: "critical" };
  if (points >= 3) return { status: "at_risk", riskLevel: "high" };
  if (points >= 1) return { status: "at_risk", riskLevel: "medium" };
  return realTimeProtection ? { status: "protected", riskLevel: "low" } : { status: null, riskLevel: null };
}

/** Of a device that is not heard of: its silence hides no threat. */
export const silent = (riskLevel: Level | null) => ({
  status: "offline" as const,
  riskLevel: riskLevel === null || riskLevel === "low" ? ("medium" as const) : riskLevel,
});
