import type { Context } from "../context.ts";
import type { CommandSpec } from "../manifest.ts";
import type { Draft } from "./draft.ts";
import { isId, type Names } from "./names.ts";

const orgFields = ["orgId", "organizationId", "orgIds", "organizationIds", "orderedIds"];
const siteFields = ["siteId", "siteIds"];
const roleFields = ["roleId", "defaultRoleId"];

/** The path parameter that is an organization or a site, if one is. */
export function paramOf(spec: CommandSpec, of: "organizations" | "sites" | "partners"): string | undefined {
  const match = new RegExp(`^/orgs/${of}/:(\\w+)`).exec(spec.path);
  return match?.[1];
}

/** True for a list or a child of an organization: there the default organization may stand in for the argument. */
export const orgParamIsScope = (spec: CommandSpec): boolean =>
  paramOf(spec, "organizations") !== undefined && spec.noun !== "organizations";

/**
 * Puts --org and --site (or the default organization) where the endpoint takes them. A change of a thing that
 * exists is never moved: PATCH and PUT get an organization only from a flag of their own.
 */
export function applyScope(context: Context, spec: CommandSpec, draft: Draft): { unused: string[] } {
  const { globals, settings } = context;
  const moves = spec.method === "PATCH" || spec.method === "PUT";
  const unused: string[] = [];
  const org = settings.org.value;
  if (
    org !== undefined &&
    !place(spec, draft, "orgId", org, moves, orgParamIsScope(spec) ? paramOf(spec, "organizations") : undefined)
  ) {
    const looksUpSite = paramOf(spec, "sites") !== undefined || siteFields.some((name) => takes(spec, name));
    if (globals.org !== undefined && !looksUpSite) unused.push("--org");
  }
  if (globals.site !== undefined && !place(spec, draft, "siteId", globals.site, moves, undefined))
    unused.push("--site");
  return { unused };
}

const takes = (spec: CommandSpec, name: string): boolean =>
  [...spec.query, ...spec.body].some((field) => field.name === name);

function place(
  spec: CommandSpec,
  draft: Draft,
  name: string,
  value: string,
  moves: boolean,
  param: string | undefined,
): boolean {
  if (param !== undefined) {
    draft.params[param] ??= value;
    return true;
  }
  if (spec.query.some((field) => field.name === name)) {
    draft.query[name] ??= value;
    return true;
  }
  if (moves || !spec.body.some((field) => field.name === name)) return false;
  if (draft.body[name] === undefined) draft.body[name] = value;
  return true;
}

/** Replaces every name of an organization, a site, a partner or a built-in role in the draft by its id. */
export async function resolveNames(context: Context, spec: CommandSpec, draft: Draft, names: Names): Promise<void> {
  const orgParam = paramOf(spec, "organizations");
  const siteParam = paramOf(spec, "sites");
  if (orgParam && draft.params[orgParam]) draft.params[orgParam] = await names.orgId(draft.params[orgParam]);
  for (const place of [draft.query, draft.body]) {
    for (const field of orgFields) place[field] = await each(place[field], (name) => names.orgId(name));
  }
  const partnerParam = paramOf(spec, "partners");
  if (partnerParam && draft.params[partnerParam])
    draft.params[partnerParam] = await names.partnerId(draft.params[partnerParam]);
  for (const place of [draft.query, draft.body]) {
    if (takes(spec, "partnerId")) place["partnerId"] = await each(place["partnerId"], (name) => names.partnerId(name));
    for (const field of roleFields) if (takes(spec, field)) place[field] = await each(place[field], roleIdOf);
  }
  const within = await orgOf(context, draft, orgParam, names);
  if (siteParam && draft.params[siteParam])
    draft.params[siteParam] = await names.siteId(draft.params[siteParam], within);
  for (const [place, fields] of [
    [draft.query, spec.query],
    [draft.body, spec.body],
  ] as const) {
    for (const field of siteFields) {
      const literal = fields.find(({ name }) => name === field)?.format !== "uuid" && place[field] === "none";
      if (!literal) place[field] = await each(place[field], (name) => names.siteId(name, within));
    }
  }
}

/** The organization in which a site's name is looked up. */
async function orgOf(
  context: Context,
  draft: Draft,
  orgParam: string | undefined,
  names: Names,
): Promise<string | undefined> {
  const { query, body, params } = draft;
  const given = query["orgId"] ?? body["orgId"] ?? (orgParam && params[orgParam]) ?? context.settings.org.value;
  if (typeof given !== "string" || given === "") return undefined;
  const needed = [...siteFields.flatMap((field) => [query[field], body[field]]), ...Object.values(params)];
  return needed.some((one) => one !== undefined && !allIds(one)) ? names.orgId(given) : given;
}

const allIds = (value: unknown): boolean =>
  typeof value === "string"
    ? value.split(",").every((one) => isId(one.trim()))
    : Array.isArray(value)
      ? value.every(allIds)
      : true;

async function roleIdOf(name: string): Promise<string> {
  return isId(name) ? name : (await import("./role-names.ts")).roleIdOf(name);
}

async function each(value: unknown, resolve: (name: string) => Promise<string>): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((one) => (typeof one === "string" ? resolve(one) : one)));
  if (typeof value !== "string" || value === "") return value;
  const parts = value.includes(",") && value.split(",").every((one) => one.trim() !== "") ? value.split(",") : [value];
  if (parts.length === 1) return resolve(value);
  return (await Promise.all(parts.map((one) => resolve(one.trim())))).join(",");
}
