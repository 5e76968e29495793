import { filterFields } from "#contract/core/filters/fields";
import { openContext } from "../../context.ts";
import { checkFields, printResult } from "../../output/print.ts";
import type { Register } from "../../register.ts";
import { tabular, takes } from "../../taken-flags.ts";
import { fieldOf, operatorsOf, spellings } from "../../where/words.ts";

const columns = ["name", "type", "operators", "values", "about"];

/** `rmm filters fields`: what an expression may look at. */
export const registerFields: Register = (command, run) => {
  takes(command, ...tabular)
    .description("List the fields that a filter may look at, with their operators as --where writes them, and values")
    .addHelpText("before", examples)
    .action(() =>
      run(async (shell, globals) => {
        const context = await openContext(shell, globals, { mayBeNew: true });
        const shape = { fields: columns, columns, keep: ["name"] };
        checkFields(globals, shape);
        await printResult(context, rows, shape);
        return 0;
      }),
    );
};

const rows = [...Object.keys(filterFields), "custom.key"].map((name) => {
  const field = fieldOf(name)!;
  return {
    name: name === "custom.key" ? "custom.<key>" : name,
    type: field.type,
    operators: operatorsOf(field).map((one) => spellings[one][0]),
    values: field.values ?? [],
    about: field.about,
  };
});

const examples = `Examples:
  rmm filters fields
  rmm filters fields --columns name,operators
`;
