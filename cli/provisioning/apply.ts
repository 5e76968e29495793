import type { RmmClient } from "#sdk/client";
import { describeError } from "../errors/describe-error.ts";
import type { ExitName } from "../errors/exit-codes.ts";
import { carryOut, type OrganizationRun, type Tools } from "./carry-out.ts";
import type { IdempotencyKeys } from "./idempotency-keys.ts";
import { inParallel } from "./in-parallel.ts";
import type { ItemResult } from "./item-result.ts";
import { type FileKey, foldName, type Sink, sinkText } from "./model.ts";
import { orderedSteps } from "./order.ts";
import { keyOf, type OrganizationPlan, type Plan, type Step } from "./plan.ts";
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
  /** Idempotency key of the object that these parts identify (`idempotency-keys.ts`). */
  idempotencyKey: IdempotencyKeys;
  /** Each result as soon as it is known; `exit`: of a failure, the exit code that it alone would have. */
  report(result: ItemResult, exit?: ExitName): void | Promise<void>;
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
    const { result, exit } = await resultOf(step, run, options);
    results.push(result);
    await options.report(result, exit);
  }
  return results;
}

interface Known {
  readonly result: ItemResult;
  readonly exit?: ExitName;
}

async function resultOf(step: Step, run: OrganizationRun, options: ApplyOptions): Promise<Known> {
  const about = {
    action: step.action,
    kind: step.kind,
    key: keyOf(run.slug, step),
    organization: run.slug,
    ...(step.id === undefined ? {} : { id: step.id }),
    changes: step.changes,
    item: { line: step.line ?? null, name: step.name },
    ...sinkOf(step.key),
  };
  if (step.action === "delete" && !options.allowDelete) return { result: { outcome: "held", ...about } };
  if (options.signal.aborted) return { result: { outcome: "skipped", ...about, error: interruption } };
  const missing = missingFor(step, run);
  if (missing) {
    return { result: { outcome: "skipped", ...about, error: { code: "DEPENDS_ON_FAILED", message: missing } } };
  }
  try {
    const done = await (options.carryOut ?? carryOut)(step, run, options);
    return { result: { outcome: "done", ...about, ...done } };
  } catch (error) {
    if (isInterruption(error)) return { result: { outcome: "skipped", ...about, error: interruption } };
    const { exit, error: told } = describeError(error);
    const { code, message, status, requestId } = told;
    const hint = exit === "unknown" ? "Run the command again: it is not done twice" : told.hint;
    return { result: { outcome: "failed", ...about, error: { code, message, status, requestId, hint } }, exit };
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
