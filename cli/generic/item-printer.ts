import type { Invocation } from "./invocation.ts";
import { type ItemOutcome, outcomeColumns, outcomeFields, rowOf, secretColumns } from "./item-outcome.ts";
import { type OutcomePrinter, outcomePrinter } from "./outcome-printer.ts";
import { secretTexts } from "./secret-fields.ts";

/** Prints what became of the entries of a list. */
export const itemPrinter = ({ context, spec, given }: Invocation): OutcomePrinter<ItemOutcome> =>
  outcomePrinter(context, {
    fields: outcomeFields,
    columns: outcomeColumns(spec, given.options),
    keep: ["outcome", "name", ...secretColumns(spec, given.options)],
    rowOf: (one) => rowOf(spec, one),
    secretsOf: ({ result }) => secretTexts(spec, result),
  });
