import type { Catalogues } from "./catalogues.ts";

/** What the words of a definition name: error codes, audit actions and event kinds of the closed lists. */
export interface Facts {
  readonly errors: readonly string[];
  readonly audit: readonly string[];
  readonly events: readonly string[];
}

export function factsOf(text: string, catalogues: Catalogues): Facts {
  return {
    errors: [...new Set([...codesOf(text, catalogues), ...statusCodesOf(text)])].toSorted(),
    audit: named(text, new Set(catalogues.auditActions), /(?:\b[Aa]udit|[·;] A) `?((?:[a-z_.]+[|,/` ]*(?:or )?)+)/g),
    events: named(text, new Set(catalogues.eventKinds), /\b(?:events?|[Ee]mits?) `?((?:[a-z_.]+[|,` ]*)+)/g),
  };
}

/** Codes in code spans; a span that begins with a brace is the shape of a body or a result. */
function codesOf(text: string, { errors }: Catalogues): string[] {
  return [...text.matchAll(/`([^`]*)`/g)].flatMap(([, span]) => {
    if (/^[{[]/.test(span as string)) return [];
    const words = (span as string).replace(/\{[^}]*\}/g, "").split(/[^A-Za-z_-]+/);
    return words.filter((word) => errors[word] && errors[word].status > 200);
  });
}

/** A status without a code stands for the code that the conventions give it; some remarks name another. */
const remarks: readonly [RegExp, string[]][] = [
  [/^ (duplicate|same )/, ["DUPLICATE"]],
  [/^ in use/, ["IN_USE"]],
  [/^ price codes/, ["NO_PRICE_FOR_CURRENCY", "PRICE_NOT_REPRESENTABLE"]],
  [/^ one is queued/, ["ALREADY_PENDING"]],
  [/^ (becomes|wrong_status)/, []],
  [/^/, ["INVALID_STATE"]],
];

function statusCodesOf(text: string): string[] {
  const conflicts = [...text.matchAll(/(?<![\d.,–-])\b409\b(?!\s*`)(.{0,20})/gs)].flatMap(
    ([, rest]) => remarks.find(([remark]) => remark.test(rest as string))?.[1] ?? [],
  );
  const missing = /(?<![\d.,–-])\b404\b(?!\s*`)/.test(text) ? ["NOT_FOUND"] : [];
  return [...conflicts, ...missing];
}

/** `a.b|c` names `a.b` and `a.c`: what follows a bar replaces the last part. */
function named(text: string, known: ReadonlySet<string>, lists: RegExp): string[] {
  const found = new Set<string>();
  for (const [, list] of text.matchAll(lists)) {
    let last = "";
    for (const [, bar, word] of (list as string).matchAll(/(\|?)([a-z_]+(?:\.[a-z_]+)*)/g)) {
      const stems = [last.replace(/[^.]*$/, ""), `${last.split(".")[0]}.`];
      const name = bar ? stems.map((stem) => `${stem}${word}`).find((one) => known.has(one)) : word;
      if (!name || !known.has(name)) break;
      found.add(name);
      last = name;
    }
  }
  return [...found];
}
