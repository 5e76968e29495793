import { CliError } from "../errors/cli-error.ts";
import type { Keychain, Shell } from "../shell.ts";

const SERVICE = "rmm";

/** The keychain of this machine, loaded with the first use. Its calls reject where there is none. */
export function keychainOf(shell: Pick<Shell, "keychain">): Keychain {
  if (shell.keychain) return shell.keychain;
  const library = () => import("keytar/keytar.js");
  return {
    get: async (account) => (await (await library()).getPassword(SERVICE, account)) ?? undefined,
    set: async (account, secret) => (await library()).setPassword(SERVICE, account, secret),
    remove: async (account) => void (await (await library()).deletePassword(SERVICE, account)),
  };
}

/** Tries the keychain with a canary: some only fail, or lose what they are given, when used. Undefined: it works. */
export async function keychainProblem(keychain: Keychain): Promise<string | undefined> {
  const account = `canary-${crypto.randomUUID()}`;
  try {
    await keychain.set(account, account);
    const read = await keychain.get(account);
    await keychain.remove(account);
    return read === account ? undefined : "it does not keep what it is given";
  } catch (error) {
    return error instanceof Error ? error.message : "it cannot be reached";
  }
}

/** Says what can be done where there is no keychain. */
export const noKeychain = (reason: string): CliError =>
  new CliError(`The keychain of this machine cannot be used: ${reason}`, {
    exit: "failure",
    code: "NO_KEYCHAIN",
    hint: "Unlock or start it; or sign in with --store=file (tokens in a file only you can read); or set RMM_TOKEN",
  });
