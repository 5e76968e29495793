import type { RmmClient } from "#sdk/client";
import { CONCURRENCY } from "./in-parallel.ts";
import type { LiveState } from "./live.ts";
import type { ProvisioningModel } from "./model.ts";
import { orderedSteps } from "./order.ts";
import { type Plan, stepsOf } from "./plan.ts";
import type { Read } from "./read-all.ts";

/** What carrying out a plan costs. */
export interface Budget {
  readonly requests: number;
  /** Enrollment keys that are minted. */
  readonly mints: number;
  /** Requests a minute that this run allows itself. */
  readonly perMinute: number;
  readonly estimatedSeconds: number;
  /** Hours that a partner key needs for its writes; absent for a user. */
  readonly windows?: number;
}

/** The API answers 1,000 requests a minute and session; what is left is for retries and for other windows. */
export const PER_MINUTE = 950;

/** A request with its answer, on an ordinary line. */
const REQUEST_SECONDS = 0.05;

/** Counts what `apply` would send. A delivery asks twice: whether the server remembers, and for the secret. */
export function budgetOf(plan: Plan, options: { perMinute: number; allowDelete: boolean }): Budget {
  const steps = plan.organizations.flatMap(orderedSteps);
  const sent = steps.filter(({ action }) => options.allowDelete || action !== "delete");
  const requests = sent.length + sent.filter(({ action }) => action === "deliver").length * 2;
  const mints = sent.filter(({ action, kind }) => action === "create" && kind === "enrollmentKey").length;
  return { requests, mints, perMinute: options.perMinute, estimatedSeconds: secondsFor(requests, options.perMinute) };
}

/** Reads of these organizations, if every list fits on a page. */
export function estimatedReads(organizations: ProvisioningModel["organizations"]): number {
  const lists = organizations.map(
    ({ sites, contacts, enrollmentKeys }) =>
      ((sites ?? contacts ?? enrollmentKeys) ? 1 : 0) + (contacts ? 1 : 0) + (enrollmentKeys ? 1 : 0),
  );
  return lists.reduce((sum, count) => sum + count, 0);
}

export function secondsFor(requests: number, perMinute: number): number {
  const waits = perMinute === 0 ? 0 : Math.floor(Math.max(0, requests - 1) / perMinute) * 60;
  return Math.ceil(waits + (requests * REQUEST_SECONDS) / CONCURRENCY);
}

/** `1 request`, `2 requests`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** One line for a person, who need not hear of a limit that is not reached. */
export const budgetText = ({ requests, mints, perMinute, estimatedSeconds }: Budget): string => {
  const limit = perMinute === 0 ? "without a limit of its own" : `at most ${perMinute} a minute; the API allows 1,000`;
  const limited = requests > (perMinute || PER_MINUTE) ? ` (${limit})` : "";
  const minted = mints === 0 ? "" : `, ${counted(mints, "enrollment key")} minted`;
  return `${counted(requests, "request")}${limited}${minted}${aboutText(estimatedSeconds)}`;
};

/** `, about 7 s`; nothing for what is over before it is read. */
export const aboutText = (seconds: number): string => (seconds < 2 ? "" : `, about ${durationText(seconds)}`);

export const durationText = (seconds: number): string =>
  seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;

/** What the partner's cap on organizations leaves no room for; undefined if there is room, or if the cap is unknown. */
export async function capWarning(rmm: RmmClient, plan: Plan, live: LiveState, read: Read): Promise<string | undefined> {
  const created = plan.organizations.filter(
    (one) => stepsOf(one)[0]?.action === "create" && one.id === undefined,
  ).length;
  if (created === 0 || live.me.scope === "organization" || live.partnerId === undefined) return undefined;
  const { me, partnerId } = live;
  const partner = await read((options) =>
    me.scope === "system"
      ? rmm.partners.get({ params: { id: partnerId } }, options)
      : rmm.partners.getMine({}, options),
  );
  if (partner.maxOrganizations === null) return undefined;
  const scope = me.scope === "system" ? { partnerId } : {};
  const { total } = await read((options) => rmm.organizations.list({ query: { limit: 1, ...scope } }, options));
  const left = partner.maxOrganizations - (total ?? 0);
  return created <= left
    ? undefined
    : `Partner ${partner.slug} may have ${partner.maxOrganizations} organizations and has ${total}: ${created} more do not fit`;
}
