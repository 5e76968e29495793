import { type Kysely, sql } from "kysely";
import type { Store } from "./dialect/index.ts";
import { SYSTEM_ROLE } from "./roles.ts";
import type { Database } from "./tables.ts";

/** What a login could do besides what the server does with it: what its password, or its connection, is worth to a thief. */
export interface LoginFacts {
  readonly name: string;
  /** A superuser, or one that no policy holds. */
  readonly bypassesRowSecurity: boolean;
  readonly ownsTables: boolean;
  readonly maySystem: boolean;
}

/** The walls between tenants on Postgres, as they stand. */
export interface Walls {
  readonly tenant: LoginFacts;
  readonly system: LoginFacts;
  /** A tenant's connection that claims another scope without the server's signature gets it. */
  readonly scopeIsForgeable: boolean;
}

/** Looks from the connections that the server itself uses. */
export async function inspectWalls(store: Store): Promise<Walls> {
  const tenants = store.connection("none");
  return {
    tenant: await loginFacts(tenants),
    system: await loginFacts(store.connection("system")),
    scopeIsForgeable: await tenants.connection().execute(claimSystem),
  };
}

async function loginFacts(db: Kysely<Database>): Promise<LoginFacts> {
  const { rows } = await sql<LoginFacts>`
    select session_user as name, r.rolsuper or r.rolbypassrls as bypasses_row_security,
      pg_has_role(session_user, ${SYSTEM_ROLE}, 'MEMBER') as may_system,
      exists (select from pg_class c where c.relnamespace = 'public'::regnamespace
        and pg_has_role(session_user, c.relowner, 'MEMBER')) as owns_tables
    from pg_roles r where r.rolname = session_user`.execute(db);
  return rows[0] as LoginFacts;
}

/** Tries what a thief would try first, on a connection that is closed with the store. */
async function claimSystem(one: Kysely<Database>): Promise<boolean> {
  await sql`select set_config('rmm.scope', 'system', false)`.execute(one);
  try {
    const { rows } = await sql<{ opened: boolean }>`select rmm_is_system() as opened`.execute(one);
    return rows[0]?.opened ?? true;
  } catch (error) {
    if ((error as { code?: string }).code === "28000") return false;
    throw error;
  } finally {
    await sql`select set_config('rmm.scope', 'none', false)`.execute(one);
  }
}
