import type { RefName } from "#contract/core/generated/refs";
import { NotFoundError, RmmError } from "#sdk/errors";
import type { Context } from "../context.ts";
import { kinds } from "../generated/kinds.ts";
import type { CommandSpec } from "../manifest.ts";
import { commandsOf } from "./commands-of.ts";
import type { Draft, Invocation } from "./invocation.ts";
import { organizationOf } from "./refs-of.ts";
import { send, sendList } from "./send.ts";

type Row = Readonly<Record<string, unknown>>;

/** What a request would destroy, read from the server. */
export interface Subject {
  /** `HQ (4444…)`, or the id alone where its row cannot be read. */
  readonly thing: string | undefined;
  /** The organization, else the partner, that it belongs to. */
  readonly customer: string | undefined;
}

/** Reads the row of a request, so that the confirmation shows the row itself and not what was typed. */
export async function subjectOf(invocation: Invocation, draft: Draft): Promise<Subject> {
  const { context, spec, names } = invocation;
  const param = spec.params.findLast((name) => spec.refs[name] !== "opaque");
  const kind = param === undefined ? undefined : spec.refs[param];
  const id = param === undefined ? undefined : draft.params[param];
  const row = param === undefined || id === undefined ? undefined : await rowOf(invocation, draft, { param, id });
  const label = row && labelOf(kind === "opaque" ? undefined : kind, row);
  const orgId = row?.["orgId"] ?? organizationOf(spec, draft);
  const org = typeof orgId === "string" ? ((await names.orgName(orgId).catch(ifRefused)) ?? orgId) : undefined;
  const { stored, server } = context.settings;
  const part = spec.params.at(-1);
  const withPart = (thing: string | undefined) =>
    part === undefined || part === param ? thing : `${draft.params[part]} on ${thing}`;
  return {
    thing: withPart(id === undefined || label === undefined || label === id ? id : `${label} (${id})`),
    customer: org ?? stored.signIns[server.value]?.partner,
  };
}

/** `at https://rmm.example (profile prod)`. */
export const placeText = ({ settings: { server, profile } }: Pick<Context, "settings">): string =>
  `at ${server.value} (profile ${profile.value})`;

/** The row from its own endpoint, else from a list. */
async function rowOf(
  { context, spec, names }: Invocation,
  draft: Draft,
  { param, id }: { param: string; id: string },
): Promise<Row | undefined> {
  const ref = spec.refs[param];
  const kind = ref === undefined || ref === "opaque" ? undefined : kinds[ref];
  if (kind === undefined) return undefined;
  const commands = await commandsOf(kind.noun);
  const orgId = context.settings.org.value && (await names.orgId(context.settings.org.value));
  const fits = ({ params, refs: named }: CommandSpec) =>
    params.every((name) => draft.params[name] !== undefined || (orgId && named[name] === "organization"));
  const get = commands.find((one) => one.name === "get" && one.refs[one.params.at(-1) ?? ""] === ref);
  const list = commands.find((one) => one.name === kind.list && fits(one));
  const client = await context.client();
  const asked = { query: {}, body: {}, hasBody: false };
  if (get) {
    const params = { [get.params.at(-1) as string]: id };
    return (await send(client, context, get, { ...asked, params }).catch(ifRefused)) as Row | undefined;
  }
  if (!list) return undefined;
  const params = Object.fromEntries(list.params.map((name) => [name, (draft.params[name] ?? orgId) as string]));
  const rows = await sendList(client, context, list, { ...asked, params })
    .toArray()
    .catch(ifRefused);
  const { within } = kind;
  const listed = (rows ?? []) as Row[];
  const all = within === undefined ? listed : listed.flatMap((row) => row[within] as Row[]);
  return all.find((row) => row["id"] === id);
}

/** A caller who may delete a row may lack the right to read it. A missing row needs no confirmation. */
function ifRefused(error: unknown): undefined {
  if (error instanceof NotFoundError || !(error instanceof RmmError)) throw error;
}

/** What people call a row of this kind. */
export const labelOf = (kind: RefName | undefined, row: Row): string | undefined =>
  (kind === undefined ? [] : (kinds[kind]?.labels ?? []))
    .map((name) => row[name])
    .find((value): value is string => typeof value === "string" && value !== "");
