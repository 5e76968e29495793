/** What a client needs to know of an endpoint to call it; made from the contract by `npm run gen`. */
export interface EndpointInfo {
  readonly noun: string;
  readonly verb: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Relative to `/api/v1`, parameters as `:name`. */
  readonly path: string;
  /** Path parameters that are ids of rows. */
  readonly uuids: readonly string[];
  readonly status: number;
  readonly transport: "json" | "json-rpc" | "text" | "html" | "redirect" | "csv" | "json-or-csv";
  /** Kinds of credentials that it accepts; `public` needs none. */
  readonly kinds: readonly ("user" | "apiKey" | "partnerKey" | "agent" | "public")[];
  readonly idempotent: boolean;
  readonly paging: { readonly kind: "whole" | "page" | "cursor"; readonly items: string } | null;
  /** Paths of secret fields: `key`, `user.token`, `items[].secret`. */
  readonly secretBody: readonly string[];
  readonly secretResult: readonly string[];
}
