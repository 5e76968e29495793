import type { RefName } from "#contract/core/generated/refs";
import type { Context } from "../context.ts";
import { missingInput } from "../errors/cli-error.ts";
import { quoted } from "../errors/commands-to-type.ts";
import { kinds } from "../generated/kinds.ts";
import type { CommandSpec, KindSpec } from "../manifest.ts";
import { allRows, type Row } from "./all-rows.ts";
import { commandsOf } from "./commands-of.ts";
import { ambiguousName, areApart, sameName, unknownName } from "./name-errors.ts";

/** Tenants and sites are looked up by `names.ts`, roles by `role-names.ts`: those that are built in need no question. */
const elsewhere: readonly RefName[] = ["organization", "partner", "site", "role"];

/** Whether rows of this kind have names, and are looked up here. */
export const isNamedKind = (ref: RefName): boolean => !elsewhere.includes(ref) && (kinds[ref]?.names.length ?? 0) > 0;

/** Whether the list of this kind takes an organization, which tells rows of one name apart. */
export const isNamedInOrg = (ref: RefName): boolean =>
  ref === "site" || (isNamedKind(ref) && kinds[ref]?.org !== "unknown");

/** Whether it takes a partner, which the system names: `--partner` says where their names are looked up. */
export const isNamedInPartner = (ref: RefName): boolean =>
  (ref === "role" || isNamedKind(ref)) && kinds[ref]?.partner === true;

interface Within {
  readonly orgId: string | undefined;
  readonly partnerId: string | undefined;
  /** The row that holds the one that is named. */
  readonly holderId: string | undefined;
}

const gone: readonly unknown[] = ["revoked", "decommissioned"];

/** The id of the one row of this kind and name; of those of one name, the one that still works. */
export const idByName = async (...asked: Parameters<typeof rowByName>): Promise<string> =>
  (await rowByName(...asked))["id"] as string;

/** That row, as its list has it. */
export async function rowByName(context: Context, kind: RefName, name: string, within: Within): Promise<Row> {
  const about = kinds[kind] as KindSpec;
  const all = (await rowsOf(context, kind, name, within)).filter((row) => typeof row["id"] === "string");
  const fields = about.names;
  const called = all.filter((row) => fields.some((field) => sameName(String(row[field] ?? ""), name)));
  const alive = called.filter(({ status }) => !gone.includes(status));
  const found = alive.length > 0 ? alive : called;
  const what = kind.replaceAll("-", " ");
  if (found.length === 1) return found[0]!;
  if (found.length === 0) {
    const names = all.flatMap((row) => fields.map((field) => row[field])).filter((one) => typeof one === "string");
    const list = `rmm ${about.noun} ${about.list}`;
    const parts = about.searched
      ? `Parts of a name are found by \`${list} --search ${quoted(name.slice(0, 3))}\``
      : `\`${list}\` shows those that there are`;
    throw unknownName(what, name, names, parts);
  }
  const told = ["id", ...fields, "orgName", "siteName", "status"];
  const lines = found.map((row) => [...new Set(told.map((field) => row[field]))].filter(Boolean).join("  "));
  throw ambiguousName(what, name, lines, isNamedInOrg(kind) && areApart(found) ? ["--org"] : []);
}

async function rowsOf(
  context: Context,
  kind: RefName,
  called: string,
  { orgId, partnerId, holderId }: Within,
): Promise<Row[]> {
  const { noun, list: listed, within, searched } = kinds[kind] as KindSpec;
  const list = (await commandsOf(noun)).find((one) => one.name === listed) as CommandSpec;
  const takes = (name: string) => list.query.some((field) => field.name === name);
  const query = {
    ...(orgId !== undefined && takes("orgId") ? { orgId } : {}),
    ...(partnerId !== undefined && takes("partnerId") ? { partnerId } : {}),
    ...(takes("limit") ? { limit: 100 } : {}),
    ...(searched ? { search: called } : {}),
    ...(takes("includeDecommissioned") ? { includeDecommissioned: true } : {}),
  };
  const params: Record<string, string> = {};
  for (const param of list.params) {
    if (orgId === undefined) throw missingInput(["--org"], `The name of a ${kind} is looked up in one organization`);
    params[param] = orgId;
  }
  const rows = await allRows(context, list, { params, query, body: {}, hasBody: false });
  if (within === undefined) return rows;
  return rows.filter(({ id }) => holderId === undefined || id === holderId).flatMap((row) => row[within] as Row[]);
}
