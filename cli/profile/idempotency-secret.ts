import { chmod, stat } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "../errors/cli-error.ts";
import type { Shell } from "../shell.ts";
import { configDirOf } from "./config-dir.ts";
import type { FoundCredential } from "./credential.ts";
import { readPrivateJson, withFileLock, writePrivateJson } from "./private-files.ts";

/**
 * The secret from which the command makes idempotency keys, so that a rerun repeats them and nobody else can guess them.
 * For a key it is derived from the key, so it is the same everywhere. For a user, whose session changes, it belongs to this installation.
 */
export async function idempotencySecret(
  shell: Pick<Shell, "env">,
  { credentials }: Pick<FoundCredential, "credentials">,
): Promise<string> {
  if ("apiKey" in credentials) {
    const { createHmac } = await import("node:crypto");
    return createHmac("sha256", credentials.apiKey).update("rmm idempotency keys").digest("hex");
  }
  return installationSecret(join(configDirOf(shell).path, "idempotency-secret.json"));
}

interface Stored {
  readonly secret?: unknown;
}

/** Created once, also if two first runs race, and never printed. */
async function installationSecret(path: string): Promise<string> {
  try {
    return (await readSecret(path)) ?? (await withFileLock(`${path}.lock`, () => makeSecret(path)));
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== "CONFIG_UNUSABLE") throw error;
    throw new CliError(error.message, {
      exit: error.exit,
      code: error.code,
      hint: "A killed run resumes from what is stored there: set RMM_CONFIG_DIR to a folder you can write to. Nothing was changed",
      cause: error,
    });
  }
}

async function makeSecret(path: string): Promise<string> {
  const known = await readSecret(path);
  if (known !== undefined) return known;
  const { randomBytes } = await import("node:crypto");
  const secret = randomBytes(32).toString("hex");
  await writePrivateJson(path, { secret });
  return secret;
}

async function readSecret(path: string): Promise<string | undefined> {
  const stored = await readPrivateJson<Stored>(path);
  if (stored === undefined) return undefined;
  const secret = stored?.secret;
  if (typeof secret !== "string" || !/^[0-9a-f]{64}$/.test(secret)) {
    throw new CliError(`${path} holds no secret of this program`, {
      exit: "failure",
      code: "CONFIG_BROKEN",
      hint: "Delete it and a new one is made. A killed run will not resume the requests of the old one",
    });
  }
  if (((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o600);
  return secret;
}
