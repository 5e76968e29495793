import { didYouMean } from "#contract/core/suggest";
import { usageError } from "../../errors/cli-error.ts";
import type { CsvTable } from "../../input/csv-table.ts";
import { guessColumns } from "./guess-columns.ts";
import { isSlug, saysYesOrNo, targetAliases, targetNames } from "./targets.ts";

export interface Mapping {
  /** Columns by target; several are joined with a blank. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  /** Targets whose columns were guessed. */
  readonly guessed: ReadonlySet<string>;
  /** Columns that go nowhere. */
  readonly unmapped: readonly string[];
  /** What would have been guessed, had --map not put its column elsewhere. */
  readonly displaced: readonly { readonly target: string; readonly columns: readonly string[] }[];
  /** By target: what a cell is replaced with, by what it says in lower case; `*` for all others. */
  readonly values: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export interface MappingOptions {
  /** `organization.name=Company Name`, `contact.name=First Name+Last Name`. */
  readonly map: readonly string[];
  /** `type:Kunde=customer`. */
  readonly mapValue: readonly string[];
  readonly guess: boolean;
  /** No column has to name the organization. */
  readonly oneOrganization?: boolean;
}

/** Works out which column goes where: what was said, then what the names of the others suggest. */
export function mappingOf(table: Pick<CsvTable, "header" | "records">, options: MappingOptions): Mapping {
  const { header } = table;
  const said = new Map(options.map.map((one) => mapped(one, header)));
  const yesOrNo = new Set(header.filter((_column, at) => saysYesOrNo(cellsAt(table, at))));
  const noSlugs = new Set(header.filter((_column, at) => !cellsAt(table, at).every(isSlug)));
  const known = { yesOrNo, noSlugs, mayBeCustomers: options.oneOrganization !== true };
  const guess = (columns: ReadonlySet<string>, targets: ReadonlySet<string>) =>
    options.guess ? guessColumns(header, { ...known, columns, targets }) : new Map<string, readonly string[]>();
  const guessed = guess(new Set([...said.values()].flat()), new Set(said.keys()));
  const columns = new Map([...said, ...guessed].filter(([, from]) => from.length > 0));
  const used = new Set([...columns.values()].flat());
  if (!columns.has("organization.name") && !options.oneOrganization) {
    throw usageError(
      "No column holds the name of the organization",
      `Give --map organization.name="…", or --org for one organization. Columns: ${header.join(", ")}`,
    );
  }
  return {
    columns,
    guessed: new Set(guessed.keys()),
    unmapped: header.filter((column) => column !== "" && !used.has(column)),
    displaced: [...guess(new Set(), new Set())].flatMap(([target, from]) =>
      columns.has(target) || said.has(target) ? [] : [{ target, columns: from }],
    ),
    values: valuesOf(options.mapValue),
  };
}

const cellsAt = ({ records }: Pick<CsvTable, "records">, at: number): string[] =>
  records.map(({ cells }) => cells[at] ?? "").filter((cell) => cell !== "");

/** Nothing behind the equals sign: no column, not even a guessed one. */
function mapped(text: string, header: readonly string[]): [target: string, columns: readonly string[]] {
  const none = /^([^=]+)=\s*$/.exec(text)?.[1];
  if (none !== undefined) return [targetOf(none.trim(), "--map"), []];
  const [name, rest] = split(text, "=", "--map", "organization.name=Company Name");
  return [targetOf(name, "--map"), columnsOf(rest, header)];
}

function split(text: string, separator: string, flag: string, example: string): [string, string] {
  const at = text.indexOf(separator);
  if (at < 1 || at === text.length - 1) throw usageError(`${flag} ${text}: write it like ${flag} '${example}'`);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

/** A whole path, or its last word where that is enough. */
function targetOf(given: string, flag: string): string {
  const alias = Object.keys(targetAliases).find((one) => one === given || one.endsWith(`.${given}`));
  const name = alias === undefined ? given : (targetAliases[alias] as string);
  const found = targetNames.filter((target) => target === name || target.endsWith(`.${name}`));
  const exact = found.includes(name) ? name : undefined;
  if (exact ?? found.length === 1) return exact ?? (found[0] as string);
  throw found.length > 1
    ? usageError(`${flag}: ${name} may be ${found.join(" or ")}`)
    : usageError(`${flag}: there is no ${name}${didYouMean(name, targetNames)}`, `Targets: ${targetNames.join(", ")}`);
}

/** A column whose name has a plus wins over two columns joined by one. */
function columnsOf(text: string, header: readonly string[]): readonly string[] {
  const find = (name: string) =>
    header.find((column) => column === name) ?? header.find((column) => column.toLowerCase() === name.toLowerCase());
  const whole = find(text);
  if (whole !== undefined) return [whole];
  return text.split("+").map((part) => {
    const column = find(part.trim());
    if (column !== undefined) return column;
    throw usageError(
      `--map: there is no column ${part.trim()}${didYouMean(part.trim(), header)}`,
      `Columns: ${header.join(", ")}`,
    );
  });
}

function valuesOf(texts: readonly string[]): Map<string, Map<string, string>> {
  const values = new Map<string, Map<string, string>>();
  for (const text of texts) {
    const [field, rest] = split(text, ":", "--map-value", "type:Kunde=customer");
    const at = rest.lastIndexOf("=");
    if (at < 1) throw usageError(`--map-value ${text}: write it like --map-value 'type:Kunde=customer'`);
    const target = targetOf(field, "--map-value");
    const known = values.get(target) ?? new Map<string, string>();
    values.set(target, known.set(rest.slice(0, at).trim().toLowerCase(), rest.slice(at + 1).trim()));
  }
  return values;
}
