import type { Selectable } from "kysely";
import type { defaultVerdicts, NegatedCriterion, ruleVerdicts, TimeWindow } from "#contract/core/pam-words";
import type { Fixed } from "../column-types.ts";

/** What decides elevations of an organization, or of one of its sites (docs/privileged-access.md, "Rules"). */
export interface PamRulesTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  /** Null: of the whole organization. */
  siteId: string | null;
  name: string;
  description: string | null;
  verdict: (typeof ruleVerdicts)[number];
  /** The least is asked first. */
  priority: number;
  enabled: boolean;
  matchSigner: string | null;
  matchSignerGroupId: string | null;
  matchSignerThumbprint: string | null;
  matchHash: string | null;
  matchPathGlob: string | null;
  matchParentImage: string | null;
  matchCommandLine: string | null;
  matchUser: string | null;
  matchAdGroup: string | null;
  matchToolName: string | null;
  matchRiskTier: number | null;
  matchNegate: NegatedCriterion[] | null;
  timeWindow: TimeWindow | null;
  /** Null: the organization's default. */
  approvalDurationMinutes: number | null;
  /** What it said before an upgrade suspended it. */
  suspendedVerdict: "auto_approve" | null;
  reapprovedAt: string | null;
  reapprovedByUserId: string | null;
  createdAt: Fixed<string>;
  updatedAt: string;
}

export type PamRule = Selectable<PamRulesTable>;

/** Names of signers under one name (docs/privileged-access.md, "Signer groups"). */
export interface SignerGroupsTable {
  id: Fixed<string>;
  orgId: Fixed<string>;
  name: string;
  /** As it compares without case. */
  nameKey: string;
  description: string | null;
  signers: string[];
  createdAt: Fixed<string>;
  updatedAt: string;
}

/** No row: people decide what no rule matches. */
export interface PamConfigsTable {
  orgId: Fixed<string>;
  defaultUnmatchedVerdict: (typeof defaultVerdicts)[number];
  updatedAt: string;
}
