import type { FilterCondition, FilterGroup } from "#contract/core/filters/condition";
import type { RefName } from "#contract/core/generated/refs";
import type { Context } from "../context.ts";
import { CliError } from "../errors/cli-error.ts";
import { meantIn } from "../generic/name-errors.ts";
import { idByName, isNamedKind } from "../generic/named-rows.ts";
import { isId, type Names, namesOf } from "../generic/names.ts";
import { excerptFor, placeText } from "./excerpt.ts";
import { WhereFault } from "./fault.ts";
import { isGroup, type Where } from "./parse.ts";
import type { Token } from "./tokens.ts";

/** Rows whose names stand for their ids. */
const named: Readonly<Record<string, RefName>> = { orgId: "organization", siteId: "site", groupId: "device-group" };

/** Where names are looked up. */
export interface LookUp {
  /** Lists that were asked for before. */
  readonly names: Names;
  /** The organization that the expression goes with, by id or name, instead of `--org`. */
  readonly org: string | undefined;
}

/**
 * The expression with ids in the place of names of organizations, sites and groups. Names are looked up as elsewhere:
 * with `--org` sites and groups of that organization alone, and a name that several have is refused with their ids.
 */
export async function withIds(context: Context, where: Where, lookUp?: LookUp): Promise<Where> {
  const places = new Map(where.places);
  const resolve = resolverFor(context, lookUp);
  const known = new Map<string, Promise<string>>();
  const idFor = (field: string, token: Token): Promise<string> => {
    const key = `${field} ${token.text}`;
    const id = known.get(key) ?? resolve(named[field]!, token);
    known.set(key, id);
    return id.catch((error: unknown) => Promise.reject(pointed(context, where, token, error)));
  };
  const visit = async (part: FilterGroup | FilterCondition): Promise<FilterGroup | FilterCondition> => {
    const made = isGroup(part) ? await groupOf(part) : await conditionOf(part);
    places.set(made, where.places.get(part)!);
    return made;
  };
  const groupOf = async (group: FilterGroup): Promise<FilterGroup> => {
    const conditions: (FilterGroup | FilterCondition)[] = [];
    for (const one of group.conditions) conditions.push(await visit(one));
    return { ...group, conditions };
  };
  const conditionOf = async (condition: FilterCondition): Promise<FilterCondition> => {
    const tokens = where.places.get(condition)!.values;
    if (named[condition.field] === undefined || tokens.every(({ text }) => isId(text))) return condition;
    const ids: string[] = [];
    for (const token of tokens) ids.push(isId(token.text) ? token.text : await idFor(condition.field, token));
    return { ...condition, value: Array.isArray(condition.value) ? ids : ids[0]! };
  };
  return { ...where, filter: (await visit(where.filter)) as FilterGroup, places };
}

function resolverFor(
  context: Context,
  { names, org: own }: LookUp = { names: namesOf(context), org: undefined },
): (kind: RefName, token: Token) => Promise<string> {
  const within = async () => {
    const org = own ?? (context.settings.org.value || undefined);
    return org === undefined ? undefined : names.orgId(org);
  };
  return async (kind, token) => {
    if (kind === "organization") return names.orgId(token.text);
    if (kind === "site") return names.siteId(token.text, await within());
    if (isNamedKind(kind))
      return idByName(context, kind, token.text, { orgId: await within(), partnerId: undefined, holderId: undefined });
    throw new WhereFault("This takes an id", token);
  };
}

/** The same error, said as others of an expression are, with its place there before its candidates. */
function pointed(context: Context, where: Where, at: Token, error: unknown): unknown {
  if (!(error instanceof CliError)) return error;
  const { exit, code, hint, details, cause } = error;
  const meant = meantIn(hint);
  const message = meant === undefined ? error.message : `${error.message} (did you mean ${meant})`;
  const path = placeText(where, at);
  const place = { path, message, start: at.start, end: at.end, excerpt: excerptFor(context.shell, where.source, at) };
  const others = Array.isArray(details) ? (details as unknown[]) : [];
  const rest = { hint: meant === undefined ? hint : undefined, details: [place, ...others] };
  return new CliError(`${path}: ${message}`, { exit, code, cause, ...rest });
}
