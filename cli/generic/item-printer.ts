import type { Invocation } from "./invocation.ts";
import { type ItemOutcome, outcomeColumns, outcomeFields, rowOf } from "./item-outcome.ts";
import { type OutcomePrinter, outcomePrinter } from "./outcome-printer.ts";
import { secretTexts, topSecrets } from "./secret-fields.ts";

/** Prints what became of the entries of a list. */
export const itemPrinter = ({ context, spec }: Invocation): OutcomePrinter<ItemOutcome> =>
  outcomePrinter(context, {
    fields: outcomeFields,
    columns: outcomeColumns(spec),
    keep: ["outcome", "name", ...topSecrets(spec)],
    rowOf: (one) => rowOf(spec, one),
    secretsOf: ({ result }) => secretTexts(spec, result),
  });
