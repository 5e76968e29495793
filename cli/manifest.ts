import type { Area } from "#contract/areas";
import type { Loss } from "#contract/core/endpoint";
import type { EventKind } from "#contract/core/events";
import type { RefName } from "#contract/core/generated/refs";

/** Shapes of `cli/generated`: what the command knows of the API without loading the contract. Made by `npm run gen`. */

export type FlagType = "string" | "integer" | "number" | "boolean" | "enum" | "array" | "object";

/** One field of a query or a body as a flag. */
export interface FlagSpec {
  /** The field's name in the contract, as sent. */
  readonly name: string;
  /** `--flag`, in kebab-case, without dashes. */
  readonly flag: string;
  /** `object` takes JSON; `array` repeats or takes commas. */
  readonly type: FlagType;
  readonly values?: readonly string[];
  /** Of an array's items. */
  readonly itemType?: FlagType;
  readonly itemValues?: readonly string[];
  readonly required: boolean;
  /** An explicit null clears the field. */
  readonly nullable: boolean;
  /** Never taken from argv as a value. */
  readonly secret: boolean;
  readonly description?: string;
  /** Of JSON: what it may say. */
  readonly shape?: string;
  /** A value that is accepted. */
  readonly example?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  /** `uuid` for an id; a text with `ref` and without a format takes several ids, separated by commas. */
  readonly format?: string;
  /** The kind of row that the id, or each of the ids, names. */
  readonly ref?: RefName;
  /** Words that are accepted besides ids. */
  readonly words?: readonly string[];
}

/** Rows that ids name. */
export interface KindSpec {
  /** Whose command lists them. */
  readonly noun: string;
  /** That command; null where none does. */
  readonly list: string | null;
  /** Fields by which they are found; none: by their id alone. */
  readonly names: readonly string[];
  /** Fields of which the first that is filled tells people which row it is. */
  readonly labels: readonly string[];
  readonly example?: string;
  /** Field of each listed row that holds them. */
  readonly within?: string;
  /** Their list is asked for a name, since there may be too many to read. */
  readonly searched: boolean;
  /** Whether their list takes an organization, which tells rows of one name apart. */
  readonly org: "needed" | "taken" | "unknown";
  /** Whether their list takes a partner, which the system names. */
  readonly partner: boolean;
}

export interface CommandSpec {
  /** Kebab-case: the command is `rmm <noun> <name>`. */
  readonly name: string;
  readonly noun: string;
  /** Of the rows that it is about. */
  readonly kind?: RefName;
  /** Where the SDK has it: `rmm[sdkNoun][sdkVerb]`. */
  readonly sdkNoun: string;
  readonly sdkVerb: string;
  readonly summary: string;
  readonly description?: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Relative to `/api/v1`, parameters as `:name`. */
  readonly path: string;
  readonly params: readonly string[];
  /** What each path parameter names. */
  readonly refs: Readonly<Record<string, RefName | "opaque">>;
  /** Values of the path parameters that name no row. */
  readonly examples: Readonly<Record<string, string>>;
  /** Fields that may be left out, and stand in its example. */
  readonly inExample?: readonly string[];
  readonly query: readonly FlagSpec[];
  readonly body: readonly FlagSpec[];
  readonly hasBody: boolean;
  readonly bodyOptional: boolean;
  /** Top-level fields of the result, or of one item of a list. */
  readonly fields: readonly string[];
  /** Default columns of a list; empty for other results. */
  readonly columns: readonly string[];
  /** Those of them that hold ids, and those that hold times. */
  readonly ids: readonly string[];
  readonly times: readonly string[];
  readonly paging: { readonly kind: "whole" | "page" | "cursor"; readonly items: string } | null;
  readonly access: {
    readonly kinds: readonly ("user" | "apiKey" | "partnerKey" | "agent" | "public")[];
    readonly scopes: readonly ("organization" | "partner" | "system")[];
    readonly permissions: readonly string[];
    /** Alone enough for a part of what it does. */
    readonly lesserPermission?: string;
    /** Enough in the place of those. */
    readonly otherPermission?: string;
    /** A key needs one of these. */
    readonly keyScopes: readonly string[];
    readonly mfa: boolean;
    readonly fullPartner: boolean;
    /** Acts on the caller's own partner; a caller without one is refused. */
    readonly ownPartner: boolean;
  };
  /** What a successful request destroys permanently; the command asks for confirmation. */
  readonly loses: Loss;
  /** Events that every successful request tells, and those that it tells in some cases. */
  readonly emits: readonly EventKind[];
  readonly mayEmit: readonly EventKind[];
  /** Audit action; null when it writes none. */
  readonly audit: string | null;
  readonly errors: readonly string[];
  readonly idempotent: boolean;
  readonly transport: "json" | "json-rpc" | "text" | "html" | "redirect" | "csv" | "json-or-csv";
  readonly status: number;
  /** Paths of secret fields in the result: `key`, `items[].secret`. */
  readonly secretResult: readonly string[];
}

/** One group of commands, small enough to be loaded at every start. */
export interface NounSpec {
  readonly noun: string;
  readonly area: Area;
  readonly summary: string;
  readonly verbs: readonly { readonly name: string; readonly summary: string }[];
}
