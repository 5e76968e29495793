import type { RmmClient } from "#sdk/client";
import { describeError } from "../errors/describe-error.ts";
import { carryOut, type OrganizationRun, type Tools } from "./carry-out.ts";
import { inParallel } from "./in-parallel.ts";
import type { ItemResult } from "./item-result.ts";
import { type FileKey, foldName, type Sink, sinkText } from "./model.ts";
import { orderedSteps } from "./order.ts";
import type { OrganizationPlan, Plan, Step } from "./plan.ts";
import { isInterruption, type Sender } from "./sender.ts";

export interface ApplyOptions {
  readonly rmm: RmmClient;
  readonly sender: Sender;
  /** Aborted: what is in hand is finished, the rest is left for the next run. */
  readonly signal: AbortSignal;
  readonly allowDelete: boolean;
  now(): number;
  /** Instead of a user's way to do a step. */
  carryOut?(step: Step, run: OrganizationRun, tools: Tools): Promise<Pick<ItemResult, "id" | "secret">>;
  /** Returns when the secret is safe. */
  deliver(sink: Sink, secret: string): Promise<void>;
  /** Each result as soon as it is known. */
  report(result: ItemResult): void | Promise<void>;
}

/** Carries out a plan: organizations beside each other, inside each one step after the other. Never throws for an item. */
export async function apply(plan: Plan, options: ApplyOptions): Promise<ItemResult[]> {
  const work = plan.organizations.filter((one) => orderedSteps(one).length > 0);
  const results = await inParallel(work, (one) => applyOrganization(one, plan.partnerId, options));
  return results.flat();
}

async function applyOrganization(
  plan: OrganizationPlan,
  partnerId: string | undefined,
  options: ApplyOptions,
): Promise<ItemResult[]> {
  const run: OrganizationRun = { slug: plan.slug, partnerId, orgId: plan.id, siteIds: new Map(plan.siteIds) };
  const results: ItemResult[] = [];
  for (const step of orderedSteps(plan)) {
    const result = await resultOf(step, run, options);
    results.push(result);
    await options.report(result);
  }
  return results;
}

async function resultOf(step: Step, run: OrganizationRun, options: ApplyOptions): Promise<ItemResult> {
  const about = {
    organization: run.slug,
    kind: step.kind,
    name: step.name,
    action: step.action,
    fields: step.changes.map(({ field }) => field),
    ...(step.id === undefined ? {} : { id: step.id }),
    ...(step.line === undefined ? {} : { line: step.line }),
    ...sinkOf(step.key),
  };
  if (step.action === "delete" && !options.allowDelete) return { ...about, outcome: "held" };
  if (options.signal.aborted) return { ...about, outcome: "skipped", error: interruption };
  const missing = missingFor(step, run);
  if (missing) return { ...about, outcome: "skipped", error: { code: "DEPENDS_ON_FAILED", message: missing } };
  try {
    return { ...about, outcome: "done", ...(await (options.carryOut ?? carryOut)(step, run, options)) };
  } catch (error) {
    if (isInterruption(error)) return { ...about, outcome: "skipped", error: interruption };
    const { exit, error: told } = describeError(error);
    const { code, message, status, requestId } = told;
    const hint = exit === "unknown" ? "Run the command again: it is not done twice" : told.hint;
    return { ...about, outcome: "failed", error: { code, message, status, requestId, hint } };
  }
}

const interruption = { code: "INTERRUPTED", message: "interrupted before it began" };

const sinkOf = (key: FileKey | undefined) => (key?.sink === undefined ? {} : { sink: sinkText(key.sink) });

/** What a failed step before leaves without ground. */
function missingFor({ action, kind, site }: Step, { slug, orgId, siteIds }: OrganizationRun): string | undefined {
  if (orgId === undefined && !(kind === "organization" && action === "create"))
    return `organization ${slug} was not created`;
  return typeof site === "string" && !siteIds.has(foldName(site)) ? `site ${site} was not created` : undefined;
}
