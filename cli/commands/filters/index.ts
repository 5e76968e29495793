import type { Register } from "../../register.ts";
import { registerExplain } from "./explain.ts";
import { registerFields } from "./fields.ts";
import { registerSave } from "./save.ts";

/** Loaded when they are called, or when all are shown. */
const written: Readonly<Record<string, { readonly summary: string; readonly register: Register }>> = {
  explain: { summary: "Turn an expression into conditions, or back", register: registerExplain },
  fields: { summary: "List the fields of filters", register: registerFields },
  save: { summary: "Save an expression as a filter", register: registerSave },
};

/** What no endpoint does. */
export const extendSavedFilters: Register = async (group, run, program) => {
  for (const [name, { summary, register }] of Object.entries(written)) {
    const command = group.command(name).summary(summary);
    if (program.called === undefined || program.called === name) await register(command, run, program);
  }
  group.addHelpText("after", "\nAlso: filters is short for saved-filters.\n");
};
