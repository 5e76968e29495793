import type { RefName } from "#contract/core/generated/refs";
import { kinds } from "../generated/kinds.ts";
import type { CommandSpec } from "../manifest.ts";
import { type Draft, type Invocation, withValue } from "./invocation.ts";
import { idByName, isNamedKind } from "./named-rows.ts";
import { isId } from "./names.ts";
import { organizationOf, type RefPlace, refsOf, scopePlaceOf, takesNames } from "./refs-of.ts";

/**
 * Fourth stage: replaces names by their ids. An unknown name ends
 * the run; in a list only its own entry fails.
 */
export async function resolveNames(invocation: Invocation): Promise<Invocation> {
  if (!takesNames(invocation.spec)) return invocation;
  const drafts: Draft[] = [];
  for (const draft of invocation.drafts) {
    const resolved = draft.failure === undefined ? wholeDraft(invocation, draft) : Promise.resolve(draft);
    drafts.push(await (invocation.list ? resolved.catch((failure: unknown) => ({ ...draft, failure })) : resolved));
  }
  return { ...invocation, drafts };
}

async function wholeDraft(invocation: Invocation, draft: Draft): Promise<Draft> {
  const named = await resolvedDraft(invocation, draft);
  // Loaded for an expression alone, for speed.
  const resolved =
    named.where === undefined ? named : await (await import("../where/of-draft.ts")).withFilter(invocation, named);
  return invocation.given.completed?.(resolved) ?? resolved;
}

async function resolvedDraft(invocation: Invocation, draft: Draft): Promise<Draft> {
  const resolvers = resolversFor(invocation, draft);
  let resolved = draft;
  for (const place of refsOf(invocation.spec)) {
    const resolve = isNamedKind(place.ref) ? byName(invocation, place, place.ref, resolved) : resolvers[place.ref];
    const value = draft[place.part][place.name];
    if (resolve === undefined || value === undefined) continue;
    resolved = withValue(resolved, place.part, place.name, await idsOf(place, value, resolve));
  }
  return resolved;
}

type Resolve = (name: string) => Promise<string>;

/** The kinds that have names. The name of a site is looked up in the organization of the request, else in the default one. */
function resolversFor(invocation: Invocation, draft: Draft): Partial<Record<RefName, Resolve>> {
  const { context, spec, names } = invocation;
  const partner = () => partnerOf(invocation, draft);
  const within = organizationOf(spec, draft) ?? (context.settings.org.value || undefined);
  return {
    organization: names.orgId,
    partner: names.partnerId,
    role: async (name) =>
      isId(name) ? name : (await import("./role-names.ts")).roleOf(context, name, await partner()),
    site: async (name) =>
      names.siteId(name, isId(name) || within === undefined ? undefined : await names.orgId(within)),
  };
}

/**
 * Rows of the other kinds that have names, in the organization of the request, else in the default one. Where the body
 * names an organization, the row of the path is on its way there, and is looked for everywhere.
 */
function byName(invocation: Invocation, { part }: RefPlace, kind: RefName, draft: Draft): Resolve {
  const { context, spec, names } = invocation;
  const moves = part === "params" && scopePlaceOf(spec, "organization")?.part === "body";
  const holder = kinds[kind]?.within === undefined ? undefined : holderOf(spec, kind);
  return async (name) => {
    if (isId(name)) return name;
    const org = moves ? undefined : (organizationOf(spec, draft) ?? (context.settings.org.value || undefined));
    const orgId = org === undefined ? undefined : await names.orgId(org);
    return idByName(context, kind, name, {
      orgId,
      partnerId: await partnerOf(invocation, draft),
      holderId: holder && draft.params[holder],
    });
  };
}

/** The parameter that names the row which holds one of this kind: the key of a principal. */
const holderOf = ({ refs }: CommandSpec, kind: RefName): string | undefined =>
  Object.entries(refs).find(
    ([, ref]) => ref !== "opaque" && ref !== kind && kinds[ref]?.noun === kinds[kind]?.noun,
  )?.[0];

/** The partner that the request names, or `--partner` of a command whose request has none. */
async function partnerOf({ given, names }: Invocation, { query, body }: Draft): Promise<string | undefined> {
  const named = query["partnerId"] ?? body["partnerId"] ?? given.options["partner"];
  return typeof named === "string" && named !== "" ? names.partnerId(named) : undefined;
}

async function idsOf({ holds, words }: RefPlace, value: unknown, resolve: Resolve): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((one) => (typeof one === "string" ? resolve(one) : one)));
  if (typeof value !== "string" || value === "" || words.includes(value)) return value;
  if (holds !== "text") return resolve(value);
  const parts = value.split(",").map((one) => one.trim());
  return (await Promise.all(parts.filter((one) => one !== "").map(resolve))).join(",");
}
