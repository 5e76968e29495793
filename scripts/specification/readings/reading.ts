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
  readonly alsoErrors?: readonly string[];
  readonly notErrors?: readonly string[];
  readonly quote: string;
  readonly because?: string;
}

export const everyScope = ["organization", "partner", "system"];
export const aboveOrganization = ["partner", "system"];
