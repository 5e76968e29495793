import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemReason } from "#sdk/node/system-reason";
import type { Context } from "../context.ts";
import { CliError, usageError } from "../errors/cli-error.ts";
import { probeSecretFile, writeSecretFile } from "../provisioning/secret-file.ts";
import { markOf, type SecretOf, secretPath } from "../provisioning/secret-path.ts";
import { warnOfGit } from "./git-warning.ts";
import { maskSecrets } from "./minted.ts";

/** A folder with a file for each new secret, which only its owner can read. */
export interface SecretDir {
  /** Refuses, before it is sent, what would make another secret for a thing that has its file already. */
  refuseTaken(id: string): void;
  /** Answers with the path. A file that is there is never overwritten; the same content is fine. */
  keep(about: SecretOf, secret: KeptSecret): Promise<string>;
}

interface KeptSecret {
  /** What the file says. */
  readonly text: string;
  readonly ending: "key" | "json";
  /** What a log must not show. */
  readonly secrets: readonly string[];
  /** How to get the secret where its file cannot be written. */
  readonly remedy: string;
}

/** Makes the folder and proves that it can be written to, before anything is sent. */
export async function openSecretDir(
  context: Context,
  folder: string,
  ending: KeptSecret["ending"],
): Promise<SecretDir> {
  await warnOfGit(context, join(folder, `any.${ending}`), folder);
  await probeSecretFile(join(folder, "probe")).catch((error: unknown) => {
    throw usageError(`--secret-dir: cannot write in ${folder}: ${systemReason(error)}`);
  });
  const there = await readdir(folder);
  return {
    refuseTaken: (id) => {
      const taken = there.find((name) => name.includes(`_${markOf(id)}.`));
      if (taken === undefined) return;
      throw new CliError(`${join(folder, taken)} exists already, and is not overwritten`, {
        exit: "failure",
        code: "SINK_OCCUPIED",
        hint: "Move it away, or name another folder",
      });
    },
    keep: async (about, { text, ending, secrets, remedy }) => {
      await maskSecrets(context, secrets);
      const path = secretPath(folder, about, ending);
      await writeSecretFile(path, text).catch((error: Error) => {
        throw new CliError(`It was made, but its secret was not written to ${path}: ${systemReason(error)}`, {
          exit: "failure",
          // Another entry may still be kept, unlike where nothing can be written.
          code: error instanceof CliError ? error.code : "SECRET_LOST",
          hint: remedy,
        });
      });
      return path;
    },
  };
}
