import { usageError } from "../../errors/cli-error.ts";
import { didYouMean } from "../../suggest.ts";
import { guessColumns } from "./guess-columns.ts";
import { targetNames } from "./targets.ts";

export interface Mapping {
  /** Columns by target; several are joined with a blank. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  /** Targets whose columns were guessed. */
  readonly guessed: ReadonlySet<string>;
  /** Columns that go nowhere. */
  readonly unmapped: readonly string[];
  /** By target: what a cell is replaced with, by what it says in lower case; `*` for all others. */
  readonly values: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export interface MappingOptions {
  /** `organization.name=Company Name`, `contact.name=First Name+Last Name`. */
  readonly map: readonly string[];
  /** `type:Kunde=customer`. */
  readonly mapValue: readonly string[];
  readonly guess: boolean;
}

/** Works out which column goes where: what was said, then what the names of the others suggest. */
export function mappingOf(header: readonly string[], { map, mapValue, guess }: MappingOptions): Mapping {
  const said = new Map(map.map((one) => mapped(one, header)));
  const taken = { columns: new Set([...said.values()].flat()), targets: new Set(said.keys()) };
  const guessed = guess ? guessColumns(header, taken) : new Map<string, readonly string[]>();
  const columns = new Map([...said, ...guessed]);
  const used = new Set([...columns.values()].flat());
  if (!columns.has("organization.name")) {
    throw usageError(
      "No column holds the name of the organization",
      `Give --map organization.name="…". Columns: ${header.join(", ")}`,
    );
  }
  return {
    columns,
    guessed: new Set(guessed.keys()),
    unmapped: header.filter((column) => column !== "" && !used.has(column)),
    values: valuesOf(mapValue),
  };
}

function mapped(text: string, header: readonly string[]): [target: string, columns: readonly string[]] {
  const [name, rest] = split(text, "=", "--map", "organization.name=Company Name");
  return [targetOf(name, "--map"), columnsOf(rest, header)];
}

function split(text: string, separator: string, flag: string, example: string): [string, string] {
  const at = text.indexOf(separator);
  if (at < 1 || at === text.length - 1) throw usageError(`${flag} ${text}: write it like ${flag} '${example}'`);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

/** A whole path, or its last word where that is enough. */
function targetOf(name: string, flag: string): string {
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
