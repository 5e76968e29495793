import type { FilterCondition, FilterGroup } from "#contract/core/filters/condition";
import type { RefName } from "#contract/core/generated/refs";
import type { Context } from "../context.ts";
import { CliError } from "../errors/cli-error.ts";
import { idByName, isNamedKind } from "../generic/named-rows.ts";
import { isId, namesOf } from "../generic/names.ts";
import { excerptFor } from "./excerpt.ts";
import { WhereFault } from "./fault.ts";
import { isGroup, type Where } from "./parse.ts";
import type { Token } from "./tokens.ts";

/** Rows whose names stand for their ids. */
const named: Readonly<Record<string, RefName>> = { orgId: "organization", siteId: "site", groupId: "device-group" };

/**
 * The expression with ids in the place of names of organizations, sites and groups. Names are looked up as elsewhere:
 * with `--org` sites and groups of that organization alone, and a name that several have is refused with their ids.
 */
export async function withIds(context: Context, where: Where, name: string): Promise<Where> {
  const places = new Map(where.places);
  const resolve = resolverFor(context);
  const known = new Map<string, Promise<string>>();
  const idFor = (field: string, token: Token): Promise<string> => {
    const key = `${field} ${token.text}`;
    const id = known.get(key) ?? resolve(named[field]!, token);
    known.set(key, id);
    return id.catch((error: unknown) => Promise.reject(pointed(context, where, name, token, error)));
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

function resolverFor(context: Context): (kind: RefName, token: Token) => Promise<string> {
  const names = namesOf(context);
  const within = async () => {
    const org = context.settings.org.value || undefined;
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

/** The same error, with the place in the expression before its candidates. */
function pointed(context: Context, { source }: Where, name: string, at: Token, error: unknown): unknown {
  if (!(error instanceof CliError)) return error;
  const { message, exit, code, hint, details, cause } = error;
  const excerpt = excerptFor(context.shell, source, at);
  const place = { path: name, message, start: at.start, end: at.end, excerpt };
  const others = Array.isArray(details) ? (details as unknown[]) : [];
  return new CliError(message, { exit, code, hint, cause, details: [place, ...others] });
}
