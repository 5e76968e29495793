import { asciiDomain } from "#contract/core/email";
import type { CommandSpec } from "../manifest.ts";
import { allRows, type Row } from "./all-rows.ts";
import { commandsOf } from "./commands-of.ts";
import type { Draft, Invocation } from "./invocation.ts";
import { sameName } from "./name-errors.ts";
import { labelOf } from "./subject.ts";

/** Finds rows of the same name. */
export interface Existing {
  /** What `--if-not-exists` leaves alone. */
  find(draft: Draft): Promise<Row | undefined>;
  /** What is said of a row that was made beside another of its name, which is there and was not to be left alone. */
  namesake(draft: Draft): Promise<string | undefined>;
}

/** Their rows may share a name, and are called by it wherever something belongs to them. */
const calledByName: ReadonlySet<string> = new Set(["sites create", "partner-api create-site"]);

interface Place {
  /** The command that lists the rows, of the same noun. */
  readonly list: string;
  /** By what a row is known: the first of these that the entry has. */
  readonly by: readonly string[];
  /** Where each row of the list, of which the path names one, holds what is looked for. */
  readonly within?: string;
}

/** Where rows stand that are not found by their name in the list of their noun. */
const places: Readonly<Record<string, Partial<Place>>> = {
  "organizations create": { by: ["slug"] },
  "partners create": { by: ["slug"] },
  "users invite": { by: ["email"] },
  "contacts create": { by: ["email", "name"] },
  "sso-domains create": { by: ["domain"] },
  "partner-api create-organization": { list: "organizations", by: ["slug"] },
  "partner-api create-site": { list: "sites" },
  "partner-service-principals issue-key": { within: "keys" },
};

const placeOf = ({ noun, name }: CommandSpec): Place => ({ list: "list", by: ["name"], ...places[`${noun} ${name}`] });

/** Whether the command makes rows that can be looked up before. A partner key sees no enrollment keys. */
export const takesIfNotExists = ({ noun, name, method }: CommandSpec): boolean =>
  method === "POST" && (name === "create" || Object.hasOwn(places, `${noun} ${name}`));

/** Looks for rows of the same name in the same tenant and site; each list is read once, with the first that asks. */
export function existingRows(invocation: Invocation): Existing {
  const { context, spec, given } = invocation;
  const leaves = given.options["ifNotExists"] === true;
  const warns = !leaves && calledByName.has(`${spec.noun} ${spec.name}`);
  const place = placeOf(spec);
  const lists = new Map<string, Promise<Row[]>>();
  const rowsFor = async (draft: Draft): Promise<Row[]> => {
    const list = (await commandsOf(spec.noun)).find(({ name, paging }) => name === place.list && paging !== null);
    if (list === undefined) throw new Error(`${spec.noun} has no list to look for names in`);
    const asked = scopeFor(list, draft);
    const key = JSON.stringify(asked);
    const known = lists.get(key);
    if (known !== undefined) return known;
    const read = allRows(context, list, asked);
    lists.set(key, read);
    return read;
  };
  const find = async (draft: Draft) => {
    const field = place.by.find((name) => typeof draft.body[name] === "string");
    if (field === undefined) return undefined;
    const rows = rowsIn(await rowsFor(draft), place, draft);
    return rows.find((row) => isSame(field, row, draft) && isWithin(row, draft));
  };
  return {
    find: async (draft) => (leaves ? find(draft) : undefined),
    // Whoever may make a row but list none is not warned.
    namesake: async (draft) => {
      const row = warns ? await find(draft).catch(() => undefined) : undefined;
      return (
        row && `another ${labelOf(spec.kind, row)} was there already (${row["id"]}): --if-not-exists leaves it alone`
      );
    },
  };
}

/** Without what is gone: the exports of a partner key list removed rows, and a revoked key keeps its name. */
function rowsIn(rows: readonly Row[], { within }: Place, { params }: Draft): readonly Row[] {
  const all = within === undefined ? rows : (rows.find(({ id }) => id === params["id"])?.[within] as Row[] | undefined);
  return (all ?? []).filter(({ removed, status }) => removed !== true && status !== "revoked");
}

/** The list of the tenant that the entry names. */
function scopeFor(list: CommandSpec, { params, body }: Draft): Draft {
  const all: Row = { ...body, ...params };
  const named = ["orgId", "partnerId"].filter((name) => typeof all[name] === "string");
  const takes = new Set(list.query.map(({ name }) => name));
  const query = Object.fromEntries(named.filter((name) => takes.has(name)).map((name) => [name, all[name]]));
  const paged = takes.has("limit") ? { limit: 100 } : {};
  const own = Object.fromEntries(list.params.map((name) => [name, String(all[name] ?? "")]));
  return { params: own, query: { ...query, ...paged }, body: {}, hasBody: false };
}

const isSame = (field: string, row: Row, { body }: Draft): boolean =>
  sameName(formOf(field, row[field]), formOf(field, body[field]));

function formOf(field: string, value: unknown): string {
  const text = String(value ?? "");
  return field === "domain" ? (asciiDomain(text) ?? text) : text;
}

/** A name may stand in another organization, or at another site. */
const isWithin = (row: Row, { params, body }: Draft): boolean =>
  ["orgId", "partnerId", "siteId"].every((name) => {
    const wanted = body[name] ?? params[name];
    return wanted === undefined || wanted === null || row[name] === undefined || row[name] === wanted;
  });
