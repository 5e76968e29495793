import { randomBytes } from "node:crypto";
import pg from "pg";
import { createDatabase, dropDatabase, postgresUrl } from "#fixtures/postgres";
import { makeRoles } from "#server/db/roles";
import { migrateDatabase } from "#server/doctor";

export type LoginName = "owner" | "tenant" | "system" | "retention";

/** A database set up as `server/SECURITY.md` says under "Hardening", with a login for each kind of work. */
export interface Hardened {
  readonly urls: Readonly<Record<LoginName, string>>;
  /** Settings of the server, with neither the owner's login nor the superuser's. */
  readonly env: Readonly<Record<string, string>>;
  readonly encryptionKey: string;
  /** A connection with that login. */
  connect(login: LoginName): Promise<pg.Client>;
  /** A connection as the owner of the tables, to inspect what the logins cannot read. */
  look<Row extends pg.QueryResultRow>(statement: string): Promise<Row[]>;
  drop(): Promise<void>;
}

export async function hardenedDatabase(): Promise<Hardened> {
  const url = await createDatabase({ label: "hardened" });
  const mark = randomBytes(4).toString("hex");
  const password = randomBytes(12).toString("hex");
  const encryptionKey = randomBytes(32).toString("hex");
  const name = (login: LoginName) => `rmm_${login}_${mark}`;
  const urls = Object.fromEntries(
    (["owner", "tenant", "system", "retention"] as const).map((login) => [
      login,
      Object.assign(new URL(url), { username: name(login), password }).href,
    ]),
  ) as Record<LoginName, string>;
  // The administrator's part; afterwards nothing uses the superuser.
  await asSuperuser(
    makeRoles,
    `create role ${name("owner")} login createrole password '${password}'`,
    `create role ${name("tenant")} login password '${password}' in role rmm_app`,
    `create role ${name("system")} login password '${password}' in role rmm_system`,
    `create role ${name("retention")} login password '${password}' in role rmm_retention`,
    `grant rmm_app, rmm_system, rmm_retention to ${name("owner")}`,
    `alter database "${new URL(url).pathname.slice(1)}" owner to ${name("owner")}`,
  );
  await migrateDatabase({ databaseUrl: urls.owner, dataDir: "/nowhere", encryptionKey });
  const open: pg.Client[] = [];
  const connect = async (login: LoginName) => {
    const client = new pg.Client({ connectionString: urls[login] });
    client.on("error", () => undefined);
    await client.connect();
    open.push(client);
    return client;
  };
  const behind = await connect("owner");
  return {
    urls,
    env: {
      DATABASE_URL: urls.tenant,
      SYSTEM_DATABASE_URL: urls.system,
      AUDIT_ADMIN_DATABASE_URL: urls.retention,
      SECRET_ENCRYPTION_KEY: encryptionKey,
    },
    encryptionKey,
    connect,
    look: async (statement) => (await behind.query(statement)).rows,
    async drop() {
      for (const client of open) await client.end();
      await dropDatabase(url);
      await asSuperuser(...(Object.keys(urls) as LoginName[]).map((login) => `drop role ${name(login)}`));
    },
  };
}

async function asSuperuser(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: await postgresUrl() });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
