import { join } from "node:path";
import type { SessionStore, SessionTokens } from "#sdk/session";
import type { Shell } from "../shell.ts";
import { configDirOf } from "./config-dir.ts";
import { keychainOf, noKeychain } from "./keychain.ts";
import { readPrivateJson, withFileLock, writePrivateJson } from "./private-files.ts";
import type { StoreKind } from "./profiles.ts";

/** A sign-in; the same user on two servers or profiles has two. */
export interface TokenKey {
  server: string;
  profile: string;
  account: string;
}

interface Vault {
  read(): Promise<SessionTokens | undefined>;
  write(tokens: SessionTokens | undefined): Promise<void>;
}

/**
 * Stores the tokens of one sign-in. Processes lock it: a refresh token works once, and the new pair is stored before
 * anyone uses it.
 */
export function tokenStore(shell: Shell, key: TokenKey, kind: StoreKind): SessionStore {
  const { path } = configDirOf(shell);
  const entry = [key.server, key.profile, key.account].join("|");
  const vault = kind === "file" ? fileVault(join(path, "tokens.json"), entry) : keychainVault(shell, entry);
  const noted = (tokens: SessionTokens | undefined) => {
    for (const secret of [tokens?.accessToken, tokens?.refreshToken]) if (secret) shell.secrets.add(secret);
    return tokens;
  };
  return {
    read: async () => noted(await vault.read()),
    write: async (tokens) => vault.write(noted(tokens)),
    clear: async () => vault.write(undefined),
    withLock: async (work) =>
      withFileLock(join(path, "locks", `${await digestOf(entry)}.lock`), work, shell.patienceMs),
  };
}

/** A file name for an entry. */
async function digestOf(entry: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(entry));
  return Buffer.from(bytes).toString("hex").slice(0, 16);
}

function fileVault(path: string, entry: string): Vault {
  type Book = { tokens: Record<string, SessionTokens> };
  const all = async () => (await readPrivateJson<Book>(path))?.tokens ?? {};
  return {
    read: async () => (await all())[entry],
    write: (tokens) =>
      withFileLock(`${path}.lock`, async () => {
        const { [entry]: _old, ...others } = await all();
        await writePrivateJson(path, { tokens: tokens === undefined ? others : { ...others, [entry]: tokens } });
      }),
  };
}

function keychainVault(shell: Shell, entry: string): Vault {
  const keychain = keychainOf(shell);
  const reach = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw noKeychain(error instanceof Error ? error.message : "it cannot be reached");
    }
  };
  return {
    read: async () => {
      const text = await reach(() => keychain.get(entry));
      return text === undefined ? undefined : (JSON.parse(text) as SessionTokens);
    },
    write: (tokens) =>
      reach(() => (tokens === undefined ? keychain.remove(entry) : keychain.set(entry, JSON.stringify(tokens)))),
  };
}
