import { open } from "node:fs/promises";
import { join } from "node:path";
import { systemReason } from "#sdk/node/system-reason";
import type { Context } from "../../../context.ts";
import { CliError, unwritable, usageError } from "../../../errors/cli-error.ts";
import { warnOfGit } from "../../../generic/git-warning.ts";
import { probeSecretFile, writeSecretFile } from "../../../provisioning/secret-file.ts";

/** What the machine of a device enrolls with. */
export interface Enrollment {
  readonly org: string;
  readonly hostname: string;
  readonly deviceId: string;
  readonly enrollmentKey: string;
  readonly enrollmentSecret: string;
  readonly serverUrl: string;
  readonly expiresAt: string;
}

/** Where the secrets of new devices go. */
export interface SecretPlace {
  keep(one: Enrollment): Promise<void>;
  close(): Promise<void>;
}

/** One new file with a JSON line for each device, or a folder with a file for each; proved before anything is made. */
export async function secretPlace(
  context: Context,
  { secretFile, secretDir }: { secretFile?: string; secretDir?: string },
): Promise<SecretPlace> {
  if ((secretFile === undefined) === (secretDir === undefined))
    throw usageError(
      "--provision needs --secret-file or --secret-dir",
      "The keys of new devices are shown nowhere else",
    );
  await warnOfGit(context, secretFile ?? join(secretDir as string, "x"));
  return secretFile === undefined ? inFolder(secretDir as string) : inFile(secretFile);
}

async function inFile(path: string): Promise<SecretPlace> {
  const file = await open(path, "wx", 0o600).catch((error: unknown) => {
    throw unwritable("--secret-file", path, error);
  });
  return {
    keep: async (one) => {
      await file.appendFile(`${JSON.stringify(one)}\n`).catch((error: Error) => lost(one, path, error));
      await file.sync();
    },
    close: () => file.close(),
  };
}

async function inFolder(folder: string): Promise<SecretPlace> {
  await probeSecretFile(join(folder, "probe")).catch((error: unknown) => {
    throw usageError(`--secret-dir: cannot write in ${folder}: ${systemReason(error)}`);
  });
  return {
    keep: async (one) => {
      // The name of a machine comes from a file: it must not lead out of the folder.
      const name = `${one.org}-${one.hostname}`.replaceAll(/[^\w.-]/g, "_").slice(0, 100);
      const path = join(folder, `${name}.${one.deviceId}.json`);
      await writeSecretFile(path, JSON.stringify(one)).catch((error: Error) => lost(one, path, error));
    },
    close: async () => undefined,
  };
}

const lost = ({ hostname }: Enrollment, path: string, error: Error): never => {
  throw new CliError(`${hostname} was added, but its key could not be written to ${path}: ${systemReason(error)}`, {
    exit: "partial",
    code: "SECRET_LOST",
    hint: "`rmm devices provision` with the same site and hostname gives a new key",
  });
};
