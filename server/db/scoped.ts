import type { Kysely } from "kysely";
import type { Database } from "./tables.ts";
import type { Scope } from "./tenant-predicate.ts";
import { tenantScope } from "./tenant-scope.ts";

const scopes = new WeakMap<object, Scope>();

/** A handle whose every query is narrowed to what the scope reaches. */
export function scoped<K extends Kysely<Database>>(base: K, scope: Scope): K {
  const handle = base.withPlugin(tenantScope(scope)) as K;
  scopes.set(handle, scope);
  return handle;
}

/** Undefined = the handle narrows nothing. */
export const scopeOfHandle = (handle: object): Scope | undefined => scopes.get(handle);
