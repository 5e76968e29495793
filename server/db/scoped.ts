import type { Kysely, KyselyPlugin } from "kysely";
import type { Scope } from "./scope.ts";
import type { Database } from "./tables.ts";
import { type Narrowing, tenantScope } from "./tenant-scope.ts";

/** A handle whose every query is narrowed to what the scope reaches. */
export const scoped = <K extends Kysely<Database>>(base: K, scope: Scope, narrowing?: Narrowing): K =>
  base.withPlugin({ ...tenantScope(scope, narrowing), scope } as KyselyPlugin) as K;

/** Undefined = the handle narrows nothing. */
export function scopeOfHandle(handle: Kysely<Database>): Scope | undefined {
  const [plugin] = handle.getExecutor().plugins as readonly (KyselyPlugin & { scope?: Scope })[];
  return plugin?.scope;
}
