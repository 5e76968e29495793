import type { Kysely, KyselyPlugin } from "kysely";
import { noteQuery } from "./read-bounds.ts";
import type { Scope } from "./scope.ts";
import type { Database } from "./tables.ts";
import { type Narrowing, tenantScope } from "./tenant-scope.ts";

/** A handle whose every query is narrowed to what the scope reaches. */
export function scoped<K extends Kysely<Database>>(base: K, scope: Scope, narrowing?: Narrowing): K {
  const { transformQuery, transformResult } = tenantScope(scope, narrowing);
  const plugin: KyselyPlugin & { scope: Scope } = {
    scope,
    transformResult,
    transformQuery(asked) {
      const query = transformQuery(asked);
      noteQuery(query, scope);
      return query;
    },
  };
  return base.withPlugin(plugin) as K;
}

/** Undefined = the handle narrows nothing. */
export function scopeOfHandle(handle: Kysely<Database>): Scope | undefined {
  const [plugin] = handle.getExecutor().plugins as readonly (KyselyPlugin & { scope?: Scope })[];
  return plugin?.scope;
}
