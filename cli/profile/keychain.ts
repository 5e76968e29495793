import { CliError } from "../errors/cli-error.ts";
import type { Keychain, Shell } from "../shell.ts";
import { spelledMs, waitAtMost } from "../wait-at-most.ts";

const LIMIT_MS = 3_000;

/** The keychain of this machine. Its calls reject where there is none, or where it does not answer in time. */
export function keychainOf(shell: Pick<Shell, "keychain" | "patienceMs">): Keychain {
  const limitMs = Math.min(LIMIT_MS, shell.patienceMs ?? LIMIT_MS);
  const silent = () => new Error(`it did not answer within ${spelledMs(limitMs)}`);
  const given = shell.keychain;
  if (given) {
    return {
      get: (account) => waitAtMost(limitMs, given.get(account), silent),
      set: (account, secret) => waitAtMost(limitMs, given.set(account, secret), silent),
      remove: (account) => waitAtMost(limitMs, given.remove(account), silent),
    };
  }
  const ask = async (call: { action: "get" | "set" | "remove"; account: string; secret?: string }) =>
    (await import("./keychain-process.ts")).askKeychain(call, limitMs, silent);
  return {
    get: (account) => ask({ action: "get", account }),
    set: async (account, secret) => void (await ask({ action: "set", account, secret })),
    remove: async (account) => void (await ask({ action: "remove", account })),
  };
}

/** Tests the keychain with a dummy value: some only fail, or lose data, when used. Undefined if it works. */
export async function keychainProblem(keychain: Keychain): Promise<string | undefined> {
  const account = `canary-${crypto.randomUUID()}`;
  try {
    await keychain.set(account, account);
    const read = await keychain.get(account);
    await keychain.remove(account);
    return read === account ? undefined : "it does not store what it is given";
  } catch (error) {
    return error instanceof Error ? error.message : "it cannot be reached";
  }
}

/** Explains the alternatives if there is no keychain; `command` keeps the tokens elsewhere. */
export const noKeychain = (reason: string, command = "`rmm auth login --store=file`"): CliError =>
  new CliError(`The keychain of this machine cannot be used: ${reason}`, {
    exit: "failure",
    code: "NO_KEYCHAIN",
    hint: `Keep the tokens in a file that only you can read: ${command}. Or start or unlock the keychain, or set RMM_TOKEN`,
  });
