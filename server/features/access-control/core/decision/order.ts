import type { PamRule } from "#server/db/tables/pam-rules";
import type { Criteria } from "./rule.ts";

/** Enabled rules of the organization in the order in which they are asked: the first that matches decides. */
export const inOrder = (rules: readonly PamRule[], orgId: string): readonly PamRule[] =>
  rules
    .filter((rule) => rule.enabled === true && rule.orgId === orgId)
    .sort((a, b) => a.priority - b.priority || compareText(a.createdAt, b.createdAt) || compareText(a.id, b.id));

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** What a rule is about: a rule of a user or directory group alone is about executables (docs/privileged-access.md, "Rules"). */
export const shapeOf = ({ matchToolName, matchRiskTier }: Criteria): "executable" | "tool" =>
  matchToolName === null && matchRiskTier === null ? "executable" : "tool";

export const isAbout = (rule: Criteria, shape: "executable" | "tool"): boolean => shapeOf(rule) === shape;
