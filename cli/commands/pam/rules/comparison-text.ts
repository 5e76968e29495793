import type { Elevation, PamRuleComparison } from "#sdk/generated/models/index";

/** The field of a request that each criterion looks at; directory groups are not stored. */
export const lookedAt: Readonly<Record<string, keyof Elevation>> = {
  signer: "targetExecutableSigner",
  signerGroup: "targetExecutableSigner",
  signerThumbprint: "targetExecutableSignerThumbprint",
  hash: "targetExecutableHash",
  pathGlob: "targetExecutablePath",
  parentImage: "parentImage",
  commandLine: "commandLine",
  user: "subjectUsername",
  toolName: "toolName",
  riskTier: "riskTier",
};

/** What a criterion comes to, as it stands and turned round. */
export const words = {
  met: { plain: "holds", turned: "fails" },
  unmet: { plain: "fails", turned: "holds" },
  absent: { plain: "fails: not reported", turned: "fails: not reported" },
  never: { plain: "fails: no signers", turned: "fails: no signers" },
} as const;

/** Whether it matches, and what beside its criteria has a part in that. */
export function reasons(request: Elevation, rule: string | null, comparison: PamRuleComparison): string[] {
  const { matches, isAbout, isAtSite, isInWindow, criteria } = comparison;
  const what = rule === null ? "The draft" : `The rule ${rule}`;
  return [
    `${what} ${matches ? "matches" : "does not match"} ${request.id}`,
    ...(isAbout ? [] : ["It is about executables and the request about a tool, or the other way round"]),
    ...(isAtSite ? [] : ["Its site is not where the device stands today"]),
    ...(isInWindow ? [] : ["The request came outside its time window"]),
    ...(criteria.some(({ criterion }) => criterion === "adGroup")
      ? ["Directory groups are never stored: a report is judged by them"]
      : []),
    ...(request.flowType === "tech_jit_admin" ? ["Rules decide no request of a technician"] : []),
  ];
}
