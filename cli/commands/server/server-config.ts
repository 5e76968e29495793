import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { systemReason } from "#sdk/node/system-reason";
import { CliError, usageError } from "../../errors/cli-error.ts";
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
  return configOf(shell, options, true);
}

/** The configuration of a server that is there already. Makes nothing: in another folder it would be that of another one. */
export async function installedConfig(shell: Shell, options: PlaceOptions) {
  const env = placeEnv(shell, options);
  const url = env["DATABASE_URL"];
  const sqlite = !url || url.startsWith("sqlite:");
  const file = url?.slice("sqlite:".length) || join(env["RMM_DATA_DIR"] || "./.rmm", "rmm.db");
  if (sqlite && !existsSync(file))
    throw new CliError(`There is no database ${resolve(file)}`, {
      exit: "notFound",
      code: "NO_DATABASE",
      hint: elsewhere,
    });
  return configOf(shell, options, false);
}

const elsewhere = "Give --data-dir or --database-url, or the environment of the server";

async function configOf(shell: Shell, options: PlaceOptions, makesSecrets: boolean) {
  const { readConfig, ConfigError } = await import("#server/config");
  const env = placeEnv(shell, options);
  noteSecrets(shell, env);
  try {
    return readConfig(env, { makesSecrets });
  } catch (error) {
    const { syscall } = error as NodeJS.ErrnoException;
    if (syscall !== undefined)
      throw usageError(
        `--data-dir: cannot use ${resolve(env["RMM_DATA_DIR"] || "./.rmm")}: ${systemReason(error)}`,
        "It must be a folder that this account may write to, or not be there yet",
      );
    if (!(error instanceof ConfigError)) throw error;
    throw usageError(error.message, makesSecrets ? "Settings are read from flags and from the environment" : elsewhere);
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
