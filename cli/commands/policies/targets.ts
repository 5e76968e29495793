import type { Context } from "../../context.ts";
import { usageError } from "../../errors/cli-error.ts";
import type { Draft } from "../../generic/invocation.ts";
import { idByName } from "../../generic/named-rows.ts";
import { isId, type Names } from "../../generic/names.ts";

type Assignment = Readonly<Record<string, unknown>>;

/**
 * The draft with ids where its assignments name their targets: `HQ`, or `contoso-dental/HQ` with the organization before it.
 * Without it, a name is looked up in the organization of the policy, else in the default one.
 */
export async function withTargets(context: Context, names: Names, draft: Draft): Promise<Draft> {
  const { assignments } = draft.body;
  if (!Array.isArray(assignments)) return draft;
  const own = draft.body["orgId"] ?? (context.settings.org.value || undefined);
  const orgId = typeof own === "string" ? await names.orgId(own) : undefined;
  const resolved = [];
  for (const [at, given] of (assignments as unknown[]).entries())
    resolved.push(isObject(given) ? await withTarget(context, names, given, { at, orgId }) : given);
  return { ...draft, body: { ...draft.body, assignments: resolved } };
}

const isObject = (value: unknown): value is Assignment =>
  typeof value === "object" && value !== null && !Array.isArray(value);

interface Place {
  readonly at: number;
  readonly orgId: string | undefined;
}

async function withTarget(context: Context, names: Names, given: Assignment, { at, orgId }: Place) {
  const { target, ...assignment } = given;
  if (target !== undefined && assignment["targetId"] !== undefined)
    throw usageError(`assignments[${at}]: give either target or targetId`);
  const called = target ?? assignment["targetId"];
  if (typeof called !== "string" || isId(called))
    return called === undefined ? assignment : { ...assignment, targetId: called };
  return { ...assignment, targetId: await idOf(context, names, String(assignment["level"]), called, orgId) };
}

async function idOf(
  context: Context,
  names: Names,
  level: string,
  called: string,
  orgId: string | undefined,
): Promise<string> {
  if (level === "organization") return names.orgId(called);
  if (level === "partner") return names.partnerId(called);
  const slash = called.indexOf("/");
  const [org, name] =
    slash < 0 ? [orgId, called] : [await names.orgId(called.slice(0, slash)), called.slice(slash + 1)];
  if (level === "site") return names.siteId(name, org);
  const kind = level === "device_group" ? "device-group" : level === "device" ? "device" : undefined;
  // The server says which levels there are.
  if (kind === undefined) return called;
  return isId(name) ? name : idByName(context, kind, name, { orgId: org, partnerId: undefined, holderId: undefined });
}
