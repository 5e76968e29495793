import type { Kysely, KyselyPlugin } from "kysely";
import type { Database } from "./tables.ts";
import type { Scope } from "./tenant-predicate.ts";
import { tenantScope } from "./tenant-scope.ts";

/** A handle whose every query is narrowed to what the scope reaches. */
export const scoped = <K extends Kysely<Database>>(base: K, scope: Scope): K =>
  base.withPlugin({ ...tenantScope(scope), scope } as KyselyPlugin) as K;

/** Undefined = the handle narrows nothing. */
export function scopeOfHandle(handle: Kysely<Database>): Scope | undefined {
  const [plugin] = handle.getExecutor().plugins as readonly (KyselyPlugin & { scope?: Scope })[];
  return plugin?.scope;
}
