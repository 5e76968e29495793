import { type RefName, refs } from "#contract/core/refs";
import type { Context } from "../context.ts";
import { missingInput } from "../errors/cli-error.ts";
import { quoted } from "../errors/commands-to-type.ts";
import type { CommandSpec } from "../manifest.ts";
import { allRows, type Row } from "./all-rows.ts";
import { commandsOf } from "./commands-of.ts";
import { ambiguousName, areApart, sameName, unknownName } from "./name-errors.ts";

/** Rows other than tenants and sites that a command line may name, and what their names are. */
export const namedKinds = {
  user: ["email", "name"],
  role: ["name"],
  "api-key": ["name"],
  "enrollment-key": ["name"],
  "service-principal": ["name"],
  "partner-service-principal": ["name"],
  "partner-key": ["name"],
  device: ["hostname", "displayName"],
  "custom-field": ["fieldKey", "name"],
  webhook: ["name"],
  "sso-provider": ["name"],
  "sso-domain": ["domain"],
  contact: ["email", "name"],
} as const satisfies Partial<Record<RefName, readonly string[]>>;

export type NamedKind = keyof typeof namedKinds;
/** Roles are looked up by `role-names.ts`: those that are built in need no question. */
export const isNamedKind = (ref: RefName): ref is NamedKind => ref !== "role" && Object.hasOwn(namedKinds, ref);

/** Kinds whose list takes an organization, which tells rows of one name apart. */
export const namedInOrg: readonly RefName[] = [
  ...(["site", "user", "api-key", "enrollment-key", "service-principal"] as const),
  ...(["device", "custom-field", "webhook", "sso-provider", "sso-domain", "contact"] as const),
];

/** Kinds whose list takes a partner, which the system names: `--partner` says where their names are looked up. */
export const namedInPartner: readonly RefName[] = ["user", "role", "partner-service-principal", "partner-key"];

interface Within {
  readonly orgId: string | undefined;
  readonly partnerId: string | undefined;
  /** The principal whose key is named. */
  readonly principalId: string | undefined;
}

/** Of these only the rows that the name finds are read: there may be a hundred thousand. */
const searched: readonly RefName[] = ["device"];
const gone: readonly unknown[] = ["revoked", "decommissioned"];
const told = ["id", "hostname", "displayName", "fieldKey", "name", "domain", "email", "orgName", "siteName", "status"];

/** The id of the one row of this kind and name; of those of one name, the one that still works. */
export const idByName = async (...asked: Parameters<typeof rowByName>): Promise<string> =>
  (await rowByName(...asked))["id"] as string;

/** That row, as its list has it. */
export async function rowByName(context: Context, kind: NamedKind, name: string, within: Within): Promise<Row> {
  const all = (await rowsOf(context, kind, name, within)).filter((row) => typeof row["id"] === "string");
  const fields: readonly string[] = namedKinds[kind];
  const called = all.filter((row) => fields.some((field) => sameName(String(row[field] ?? ""), name)));
  const alive = called.filter(({ status }) => !gone.includes(status));
  const found = alive.length > 0 ? alive : called;
  const what = kind.replaceAll("-", " ");
  if (found.length === 1) return found[0]!;
  if (found.length === 0) {
    const names = all.flatMap((row) => fields.map((field) => row[field])).filter((one) => typeof one === "string");
    const parts = searched.includes(kind)
      ? `Parts of a name are found by \`rmm ${refs[kind]} list --search ${quoted(name.slice(0, 3))}\``
      : `\`rmm ${refs[kind]} list\` shows those that there are`;
    throw unknownName(what, name, names, parts);
  }
  const lines = found.map((row) => [...new Set(told.map((field) => row[field]))].filter(Boolean).join("  "));
  throw ambiguousName(what, name, lines, namedInOrg.includes(kind) && areApart(found) ? ["--org"] : []);
}

async function rowsOf(context: Context, kind: NamedKind, called: string, within: Within): Promise<Row[]> {
  const { orgId, partnerId, principalId } = within;
  const list = (await commandsOf(refs[kind])).find((one) => one.name === "list") as CommandSpec;
  const takes = (name: string) => list.query.some((field) => field.name === name);
  const query = {
    ...(orgId !== undefined && takes("orgId") ? { orgId } : {}),
    ...(partnerId !== undefined && takes("partnerId") ? { partnerId } : {}),
    ...(takes("limit") ? { limit: 100 } : {}),
    ...(searched.includes(kind) ? { search: called } : {}),
    ...(takes("includeDecommissioned") ? { includeDecommissioned: true } : {}),
  };
  const params: Record<string, string> = {};
  for (const param of list.params) {
    if (orgId === undefined) throw missingInput(["--org"], `The name of a ${kind} is looked up in one organization`);
    params[param] = orgId;
  }
  const rows = await allRows(context, list, { params, query, body: {}, hasBody: false });
  if (kind !== "partner-key") return rows;
  return rows.filter(({ id }) => principalId === undefined || id === principalId).flatMap(({ keys }) => keys as Row[]);
}
