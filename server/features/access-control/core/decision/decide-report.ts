import { isDeepStrictEqual } from "node:util";
import { attempt } from "#server/db/attempt";
import type { Store } from "#server/db/dialect/index";
import { shared } from "#server/db/dialect/locks";
import type { PamRule } from "#server/db/tables/pam-rules";
import type { Reader, Tx } from "#server/db/unit-of-work";
import type { Log } from "#server/platform/log";
import type { Candidate } from "./candidate.ts";
import { decide } from "./decide.ts";
import { type Decision, pendingBecause } from "./decision.ts";
import { effectiveSoftwarePolicy } from "./effective-policy.ts";
import { foldName } from "./fold.ts";
import type { SignerGroups } from "./rule.ts";
import type { SoftwarePolicy } from "./software-policy.ts";
import { inTurns } from "./steps.ts";

/** The software policy in force on a device, read in the transaction that it is given. */
export type SoftwarePolicyOf = (db: Reader, deviceId: string) => Promise<SoftwarePolicy | undefined>;

/** What a decision is made with. */
export interface Deciding {
  readonly store: Pick<Store, "dialect">;
  readonly log: Log;
  /** What stands in for the policies of the device, in tests. */
  readonly softwarePolicyOf?: SoftwarePolicyOf;
}

/** How often it begins again when the rule that matched has changed meanwhile. */
export const STARTS_MAX = 4;

/**
 * Decides a reported elevation in the transaction that inserts it (docs/privileged-access.md, "The decision chain"), and
 * never throws: whatever goes wrong is left to people. The handle must see the whole organization.
 */
export async function decideReport(tx: Tx, candidate: Candidate, deciding: Deciding): Promise<Decision> {
  const tried = await attempt(tx, () => decideOnce(tx, candidate, deciding));
  if ("done" in tried) return tried.done;
  deciding.log.error("pam.evaluation_failed", { error: tried.error });
  return pendingBecause("evaluation_failed");
}

async function decideOnce(tx: Tx, candidate: Candidate, deciding: Deciding): Promise<Decision> {
  for (let start = 0; start < STARTS_MAX; start += 1) {
    const book = await readRulebook(tx, candidate, deciding);
    const decision = await inTurns(decide(book, candidate));
    const matched = book.rules.find(({ id }) => id === decision.pamRuleId);
    if (!matched || (await stillStands(tx, matched, book.groups, deciding.store))) return decision;
  }
  return pendingBecause("rules_changed");
}

async function readRulebook(tx: Tx, { orgId, deviceId }: Candidate, deciding: Deciding) {
  const { softwarePolicyOf = effectiveSoftwarePolicy } = deciding;
  if (deviceId === null) throw new Error("a report is of a device");
  const config = await tx.selectFrom("pamConfigs").selectAll().where("orgId", "=", orgId).executeTakeFirst();
  const enabled = tx.selectFrom("pamRules").selectAll().where("orgId", "=", orgId).where("enabled", "=", true);
  const rules = await enabled.execute();
  return {
    softwarePolicy: await softwarePolicyOf(tx, deviceId),
    rules,
    groups: await signersOf(tx, rules),
    defaultUnmatchedVerdict: config?.defaultUnmatchedVerdict ?? "require_approval",
  };
}

/** Signers of the groups that rules name, as names are compared. */
export async function signersOf(
  db: Reader,
  rules: readonly Pick<PamRule, "matchSignerGroupId">[],
): Promise<SignerGroups> {
  const ids = new Set(rules.flatMap(({ matchSignerGroupId: id }) => (id === null ? [] : [id])));
  if (ids.size === 0) return new Map();
  const groups = db
    .selectFrom("signerGroups")
    .select(["id", "signers"])
    .where("id", "in", [...ids]);
  return new Map((await groups.execute()).map(({ id, signers }) => [id, new Set(signers.map(foldName))]));
}

/** Whether rule and group are what they were; the rule stays so until the transaction ends. */
export async function stillStands(
  tx: Tx,
  rule: PamRule,
  groups: SignerGroups,
  store: Deciding["store"],
): Promise<boolean> {
  const query = tx.selectFrom("pamRules").selectAll().where("id", "=", rule.id);
  if (!isDeepStrictEqual(await shared(query, store.dialect).executeTakeFirst(), rule)) return false;
  const now = await signersOf(tx, [rule]);
  return [...now].every(([id, signers]) => isDeepStrictEqual(signers, groups.get(id)));
}
