/** What the documents say of one endpoint. `a:b|c:d` among the permissions = one of the two is enough. */
export interface Statement {
  readonly kinds: readonly string[];
  readonly scopes: readonly string[];
  /** Null: the documents name none and no rule gives one. */
  readonly permissions: readonly string[] | null;
  readonly keyScopes: readonly string[];
  readonly mfa: boolean;
  readonly fullPartner: boolean;
  /** The watchdog's credential is accepted too. */
  readonly watchdog: boolean;
  /** Guards that do not hold here. */
  readonly exempt: readonly string[];
  readonly errors: readonly string[];
  /** The actions a successful call may write; empty: it writes none; null: not said. */
  readonly audit: readonly string[] | null;
  /** The events that the documents name for the call itself. */
  readonly events: readonly string[];
}

/**
 * Something the documents say in prose, read by hand. `of` names endpoints as `METHOD /path`, or all reads (`GET noun`),
 * all other methods (`WRITE noun`) or every endpoint (`ALL noun`) of a noun.
 *
 * `quote` are the words it rests on: the run fails when the documents no longer hold them, so a reading never outlives
 * its text. `because` says how the words were understood where they do not settle it by themselves.
 */
export interface Reading {
  readonly of: readonly string[];
  readonly says: Partial<Statement>;
  /** Codes besides those that the definition itself names, and codes there that are no answer of the endpoint. */
  readonly alsoErrors: readonly string[];
  readonly notErrors: readonly string[];
  readonly quote: string;
  readonly because?: string;
}

export interface Readings {
  /** What a section says of all its endpoints at once; the marks beside an endpoint win over it. */
  readonly sections: readonly Reading[];
  /** What wins over the marks: prose, and marks that speak of several endpoints. Later ones win over earlier ones. */
  readonly corrections: readonly Reading[];
}

export const everyScope = ["organization", "partner", "system"];
export const aboveOrganization = ["partner", "system"];

/** Endpoints are separated by `; `. */
export function says(of: string, statement: Partial<Statement>, quote: string, because?: string): Reading {
  return { of: of.split("; "), says: statement, alsoErrors: [], notErrors: [], quote, ...(because && { because }) };
}

/** Reading needs `<resource>:read`, everything else `<resource>:write` and MFA; nouns are separated by spaces. */
export function readsAndWrites(resource: string, nouns: string, quote: string): Reading[] {
  const of = (methods: string) =>
    list(nouns)
      .map((noun) => `${methods} ${noun}`)
      .join("; ");
  return [
    says(of("GET"), { permissions: [`${resource}:read`] }, quote),
    says(of("WRITE"), { permissions: [`${resource}:write`], mfa: true }, quote),
  ];
}

/** The audit actions that a successful call writes; none where the list is empty. */
export function records(of: string, actions: string, quote: string, because?: string): Reading {
  return says(of, { audit: list(actions) }, quote, because);
}

/** The events that a successful call tells. */
export function tells(of: string, events: string, quote: string, because?: string): Reading {
  return says(of, { events: list(events) }, quote, because);
}

/** `+CODE` is answered besides what the definition names, `-CODE` stands there but is no answer of the endpoint. */
export function answers(of: string, codes: string, quote: string, because?: string): Reading {
  const marked = (mark: string) => list(codes).flatMap((code) => (code.startsWith(mark) ? [code.slice(1)] : []));
  return { ...says(of, {}, quote, because), alsoErrors: marked("+"), notErrors: marked("-") };
}

const list = (words: string) => words.split(" ").filter((word) => word !== "");
