import type { Command } from "commander";
import { usageError } from "../../errors/cli-error.ts";
import type { Shell } from "../../shell.ts";

export interface PlaceOptions {
  port?: string;
  host?: string;
  dataDir?: string;
  databaseUrl?: string;
}

/** Flags that say where the server's data is. */
export const addPlaceFlags = (command: Command): Command =>
  command
    .option("--data-dir <path>", "folder of the server's data (RMM_DATA_DIR; default ./.rmm)")
    .option("--database-url <url>", "postgres://… or sqlite:<path> (DATABASE_URL; default SQLite in the data folder)");

/** The server's configuration: its environment, with the flags before it. A wrong setting is wrong usage. */
export async function serverConfig(shell: Shell, options: PlaceOptions) {
  const { readConfig, ConfigError } = await import("#server/config");
  const env = placeEnv(shell, options);
  noteSecrets(shell, env);
  try {
    return readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError)
      throw usageError(error.message, "Settings are read from flags and from the environment");
    throw error;
  }
}

/** The environment with the flags before it. Logins of the environment's database are not used on the one of a flag. */
export function placeEnv(shell: Shell, { port, dataDir, databaseUrl }: PlaceOptions): Shell["env"] {
  const env = {
    ...shell.env,
    ...(port === undefined ? {} : { PORT: port }),
    ...(dataDir === undefined ? {} : { RMM_DATA_DIR: dataDir }),
  };
  if (databaseUrl === undefined) return env;
  return { ...env, DATABASE_URL: databaseUrl, SYSTEM_DATABASE_URL: undefined, MIGRATION_DATABASE_URL: undefined };
}

const secretSettings = [
  "JWT_SECRET",
  "SECRET_ENCRYPTION_KEY",
  "APP_ENCRYPTION_KEY",
  "ENROLLMENT_KEY_PEPPER",
  "AGENT_ENROLLMENT_SECRET",
  "AUDIT_ANCHOR_SIGNING_KEY",
  "BOOTSTRAP_ADMIN_PASSWORD",
  "SMTP_PASSWORD",
  "METRICS_SCRAPE_TOKEN",
];

const databaseSettings = ["DATABASE_URL", "SYSTEM_DATABASE_URL", "MIGRATION_DATABASE_URL", "AUDIT_ADMIN_DATABASE_URL"];

/** What must not reach stderr, the password inside the database's address too. */
function noteSecrets(shell: Shell, env: Readonly<Record<string, string | undefined>>): void {
  for (const name of secretSettings) if (env[name]) shell.secrets.add(env[name]);
  for (const name of databaseSettings) {
    const url = env[name];
    if (!url || !URL.canParse(url)) continue;
    const { password } = new URL(url);
    if (password !== "") shell.secrets.add(password).add(decodeURIComponent(password));
  }
}
