import type { Context } from "../../context.ts";
import { type Given, withPlace } from "../../errors/commands-to-type.ts";
import { checkAccess } from "../../provisioning/access-check.ts";
import { alikeWarnings } from "../../provisioning/alike.ts";
import type { ApplyOptions } from "../../provisioning/apply.ts";
import {
  aboutText,
  type Budget,
  budgetOf,
  budgetText,
  capWarning,
  counted,
  secondsFor,
} from "../../provisioning/budget.ts";
import { makePlan } from "../../provisioning/make-plan.ts";
import type { FileOrganization, ProvisioningModel } from "../../provisioning/model.ts";
import { carryOutByPartnerKey } from "../../provisioning/partner-key/carry-out.ts";
import { checkPartnerAccess } from "../../provisioning/partner-key/check-access.ts";
import { diffExports } from "../../provisioning/partner-key/diff.ts";
import { remintWarnings } from "../../provisioning/partner-key/diff-keys.ts";
import { readExports } from "../../provisioning/partner-key/read-live.ts";
import { requirePace, windowsOf, windowsText } from "../../provisioning/partner-key/windows.ts";
import type { Plan } from "../../provisioning/plan.ts";
import type { PlanOptions, SavedPlan } from "../../provisioning/saved-plan.ts";
import type { Sender } from "../../provisioning/sender.ts";
import { type SinkContext, sinkConflicts, sinkHolds } from "../../provisioning/sinks.ts";

/** One run of `plan` or `apply`, up to the plan. */
export interface Planned extends PlanningInput {
  readonly plan: Plan;
  readonly budget: Budget;
  readonly budgetText: string;
  /** Throws before the first change where the caller lacks what the plan needs. */
  checkAccess(): Promise<void>;
  warnings(): Promise<string[]>;
  readonly carryOut?: NonNullable<ApplyOptions["carryOut"]>;
}

export interface PlanningInput {
  readonly context: Context;
  readonly sender: Sender;
  readonly sinks: SinkContext;
  /** As it was typed. */
  readonly path: string;
  /** The provisioning file, as messages name it. */
  readonly file: string;
  readonly source: { readonly text: string; readonly sinkFolder: string; readonly options: PlanOptions };
  /** Where a saved plan is carried out. */
  readonly saved?: SavedPlan;
  readonly by: string;
  readonly perMinute: number;
  readonly checkSinks: boolean;
  readonly allowDelete: boolean;
  readonly pace: boolean;
  /** Says what is read, and how long that takes; `there`: the organizations that the server has, where that is known. */
  tellReading(there?: readonly FileOrganization[]): Promise<void>;
}

/** What a signed-in user may read and change: everything in the file. */
export async function plannedByUser(input: PlanningInput, model: ProvisioningModel): Promise<Planned> {
  const { context, sender, sinks, perMinute, checkSinks, allowDelete } = input;
  const rmm = await context.client();
  const reading = { rmm, sender, nowMs: context.shell.now(), sinks, checkSinks, begin: input.tellReading };
  const { live, plan: made } = await makePlan(model, reading);
  const plan = withPlaces(made, context.globals.given);
  const budget = budgetOf(plan, { perMinute, allowDelete });
  return {
    ...input,
    plan,
    budget,
    budgetText: budgetText(budget),
    checkAccess: () => checkAccess(rmm, live.me, plan),
    warnings: async () => {
      const cap = await capWarning(rmm, plan, live, sender.read);
      return [...alikeWarnings(model.organizations, live.known), ...(cap === undefined ? [] : [cap])];
    },
  };
}

/** What a partner key can: read two exports, and create. */
export async function plannedByPartnerKey(input: PlanningInput, model: ProvisioningModel): Promise<Planned> {
  const { context, sender, sinks, perMinute, checkSinks, pace } = input;
  const rmm = await context.client();
  await input.tellReading();
  const live = await readExports(rmm, sender.read);
  const { redeliver } = sinks;
  const compared = diffExports(model, live, {
    nowMs: context.shell.now(),
    sinkHolds: (key) => sinkHolds(key, redeliver),
    redeliver,
    assumeMade: !checkSinks,
  });
  // What is left to a person is done with a sign-in, not with the key.
  const { "token-file": _key, ...given } = context.globals.given;
  const plan = {
    ...withPlaces(compared, given),
    conflicts: [...compared.conflicts, ...sinkConflicts(compared, sinks)],
  };
  const windows = windowsOf(plan);
  const { writes, mints, count } = windows;
  const hours = Math.max(0, count - 1);
  const estimatedSeconds = hours * 3_600 + secondsFor(writes, perMinute);
  const hint = count > 1 && !pace ? "; use --pace" : "";
  return {
    ...input,
    plan,
    budget: { requests: writes, mints, perMinute, estimatedSeconds, windows: count },
    budgetText: `${counted(writes, "write")} by a partner key (${windowsText(windows)}${hint})${aboutText(estimatedSeconds)}`,
    checkAccess: async () => {
      requirePace(windows, pace);
      await checkPartnerAccess(rmm, plan, context.shell.signal);
    },
    warnings: async () => [
      ...alikeWarnings(model.organizations, [...live.organizations.values()]),
      ...remintWarnings(plan),
      ...(model.partner === undefined
        ? []
        : [`a partner key belongs to one partner: whether that is ${model.partner}, as the file says, is not checked`]),
    ],
    carryOut: carryOutByPartnerKey,
  };
}

/** The commands of notes act where this run did. */
const withPlaces = (plan: Plan, given: Given): Plan => ({
  ...plan,
  organizations: plan.organizations.map((one) => ({
    ...one,
    notes: one.notes.map((note) =>
      note.command === undefined ? note : { ...note, command: withPlace(note.command, given) },
    ),
  })),
});
