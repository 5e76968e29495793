import { join } from "node:path";
import { didYouMean } from "#contract/core/suggest";
import { CliError, usageError } from "../errors/cli-error.ts";
import type { Shell } from "../shell.ts";
import { configDirOf } from "./config-dir.ts";
import { readPrivateJson, withFileLock, writePrivateJson } from "./private-files.ts";

export type StoreKind = "keychain" | "file";
export const outputs = ["auto", "json", "ndjson"] as const;
export type OutputChoice = (typeof outputs)[number];

/** Who is signed in at one server under a profile. The tokens themselves are in the keychain or the token file. */
export interface SignIn {
  account: string;
  store: StoreKind;
  /** Shown before a write. */
  partner?: string;
}

export interface Profile {
  server?: string;
  org?: string;
  output?: OutputChoice;
  /** Where the last sign-in stored its tokens; the next one uses the same place. */
  store?: StoreKind;
  /** Servers for which `--insecure-http` was given once: plain http is allowed. */
  plainHttp?: string[];
  /** By normalised server address; a profile may be signed in to several. */
  signIns: Record<string, SignIn>;
}

export interface ProfileBook {
  current: string;
  profiles: Record<string, Profile>;
}

export const FIRST_PROFILE = "default";

const bookPath = (shell: Shell): string => join(configDirOf(shell).path, "config.json");

/** All profiles of this user. Without a file there is one empty profile. */
export async function readProfiles(shell: Shell): Promise<ProfileBook> {
  const read = await readPrivateJson<Partial<ProfileBook>>(bookPath(shell));
  const profiles = Object.fromEntries(
    Object.entries(read?.profiles ?? {}).map(([name, one]) => [name, { ...one, signIns: one.signIns ?? {} }]),
  );
  return { current: read?.current ?? FIRST_PROFILE, profiles };
}

/** Changes the profiles under a lock, so that two runs do not undo each other. */
export async function changeProfiles(shell: Shell, change: (book: ProfileBook) => void): Promise<void> {
  const path = bookPath(shell);
  await withFileLock(`${path}.lock`, async () => {
    const book = await readProfiles(shell);
    change(book);
    await writePrivateJson(path, book);
  });
}

/** A profile by name; the first one may not exist yet. */
export function getProfile(book: ProfileBook, name: string): Profile {
  const found = book.profiles[name];
  if (found) return found;
  if (name === FIRST_PROFILE) return { signIns: {} };
  throw new CliError(`There is no profile ${name}${didYouMean(name, Object.keys(book.profiles))}`, {
    exit: "usage",
    code: "UNKNOWN_PROFILE",
    hint: `Make it with \`rmm profile add ${name} --server <url>\``,
  });
}

export function checkProfileName(name: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) || name === "__proto__") {
    throw usageError("A profile's name has letters, digits, dots, dashes and underscores");
  }
}
