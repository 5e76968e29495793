import { open } from "node:fs/promises";
import { systemReason } from "#sdk/node/system-reason";
import type { Context } from "../../../context.ts";
import { CliError, unwritable, usageError } from "../../../errors/cli-error.ts";
import { warnOfGit } from "../../../generic/git-warning.ts";
import { openSecretDir } from "../../../generic/secret-dir.ts";

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
  if (secretFile === undefined) return inFolder(context, secretDir as string);
  await warnOfGit(context, secretFile);
  return inFile(secretFile);
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

async function inFolder(context: Context, folder: string): Promise<SecretPlace> {
  const dir = await openSecretDir(context, folder, "json");
  return {
    keep: async (one) => {
      const { org, hostname, deviceId, enrollmentKey, enrollmentSecret } = one;
      await dir.keep(
        { kind: "device", id: deviceId, name: hostname, organization: org },
        { text: JSON.stringify(one), ending: "json", secrets: [enrollmentKey, enrollmentSecret], remedy },
      );
    },
    close: async () => undefined,
  };
}

const remedy = "`rmm devices provision` with the same site and hostname gives a new key";

const lost = ({ hostname }: Enrollment, path: string, error: Error): never => {
  throw new CliError(`${hostname} was added, but its key could not be written to ${path}: ${systemReason(error)}`, {
    exit: "partial",
    code: "SECRET_LOST",
    hint: remedy,
  });
};
