import { filterFields } from "#contract/core/filters/fields";
import { openContext } from "../../context.ts";
import { checkFields, formatOf, printResult } from "../../output/print.ts";
import type { Register } from "../../register.ts";
import { tabular, takes } from "../../taken-flags.ts";
import { fieldOf, operatorsOf, spellings } from "../../where/words.ts";

const columns = ["name", "type", "operators", "values", "about"];

/** `rmm filters fields`: what an expression may look at. */
export const registerFields: Register = (command, run) => {
  takes(command, ...tabular)
    .description("List the fields that a filter may look at, with their operators as --where writes them, and values")
    .option("--search <text>", "only those with this in their name, type, values or meaning")
    .addHelpText("before", examples)
    .action(() =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals, { mayBeNew: true });
        const shape = { fields: columns, columns, keep: ["name"] };
        checkFields(globals, shape);
        const { search } = command.opts<{ search?: string }>();
        const rows = fieldsWith(search);
        const brief = formatOf(context) === "table" && !globals.wide && globals.columns === undefined;
        await printResult(context, rows, { ...shape, ...(brief && { view: { columns: briefly } }) });
        if (rows.length === 0) await context.notice(`No field has "${search}" in its name, type, values or meaning`);
        if (!brief) return 0;
        for (const line of operatorLines(rows)) await context.notice(line);
        if (search === undefined) await context.notice("Fewer of them: `rmm filters fields --search disk`");
        return 0;
      }),
    );
};

/** By name, so that what belongs together stands together: `hardware.…`, `network.…`. */
const all = [...Object.keys(filterFields), "custom.key"]
  .map((name) => {
    const field = fieldOf(name)!;
    return {
      name: name === "custom.key" ? "custom.<key>" : name,
      type: field.type,
      operators: operatorsOf(field).map((one) => spellings[one][0]),
      values: field.values ?? [],
      about: field.about,
    };
  })
  .sort((one, other) => one.name.localeCompare(other.name, "en"));

type Row = (typeof all)[number];

/** Those with every word of the text in them. */
function fieldsWith(text = ""): readonly Row[] {
  const words = text.toLowerCase().split(/\s+/);
  return all.filter(({ name, type, values, about }) => {
    const said = [name, type, ...values, about].join(" ").toLowerCase();
    return words.every((word) => said.includes(word));
  });
}

/** Operators are those of the type, and long: a terminal shows them once for each. */
const briefly = ["name", "type", "about", "values"];

/** A line for each type; for fields whose operators are others than those of their type, by their names. */
function operatorLines(rows: readonly Row[]): string[] {
  const sets = new Map<string, { type: string; names: string[]; operators: readonly string[] }>();
  for (const { name, type, operators } of rows) {
    const key = `${type} ${operators.join()}`;
    sets.set(key, { type, operators, names: [...(sets.get(key)?.names ?? []), name] });
  }
  const most = (type: string) =>
    Math.max(...[...sets.values()].map((one) => (one.type === type ? one.names.length : 0)));
  return [...sets.values()].map(({ type, names, operators }) => {
    const who = names.length === most(type) ? type : names.join(", ");
    return `${who}: ${operators.join(", ")}`;
  });
}

const examples = `Examples:
  rmm filters fields
  rmm filters fields --search disk
  rmm filters fields --columns name,operators
`;
