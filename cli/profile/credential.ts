import { type Credentials, kindOfSecret, type SecretKind } from "#sdk/credential";
import type { Globals } from "../globals.ts";
import type { Shell } from "../shell.ts";
import { cleanToken, readSecretFile, readStdin } from "./secret-text.ts";
import type { Settings } from "./settings.ts";
import { tokenStore } from "./token-store.ts";

/** The credential of this run and its source. */
export interface FoundCredential {
  kind: SecretKind;
  source: string;
  credentials: Credentials;
  /** Of a stored sign-in. */
  account?: string;
}

/**
 * Order: --token-file or --token-stdin, RMM_TOKEN_FILE, RMM_TOKEN, RMM_API_KEY, then the sign-in of this
 * server and profile from the keychain or the token file. Undefined when there is none.
 */
export async function findCredential(
  shell: Shell,
  globals: Pick<Globals, "tokenFile" | "tokenStdin">,
  settings: Settings,
): Promise<FoundCredential | undefined> {
  const { env } = shell;
  const { tokenFile } = globals;
  const file = env["RMM_TOKEN_FILE"];
  if (tokenFile !== undefined)
    return given(shell, await readSecretFile(shell, tokenFile, "--token-file"), "--token-file");
  if (globals.tokenStdin) return given(shell, await readStdin(shell), "--token-stdin");
  if (file !== undefined) {
    const path = file.trim() === "" ? cleanToken(shell, file, "RMM_TOKEN_FILE") : file;
    return given(shell, await readSecretFile(shell, path, "RMM_TOKEN_FILE"), "RMM_TOKEN_FILE");
  }
  if (env["RMM_TOKEN"] !== undefined) return given(shell, env["RMM_TOKEN"], "RMM_TOKEN");
  if (env["RMM_API_KEY"] !== undefined) return given(shell, env["RMM_API_KEY"], "RMM_API_KEY");
  return storedCredential(shell, settings);
}

/** What `findCredential` takes before a sign-in, as a person would look for it. */
export function givenSource(env: Shell["env"], flags: Pick<Globals, "tokenFile" | "tokenStdin">): string | undefined {
  if (flags.tokenFile !== undefined) return `--token-file ${flags.tokenFile}`;
  if (flags.tokenStdin) return "--token-stdin";
  const file = env["RMM_TOKEN_FILE"];
  if (file !== undefined) return `RMM_TOKEN_FILE (${file})`;
  return ["RMM_TOKEN", "RMM_API_KEY"].find((name) => env[name] !== undefined);
}

/** The prefix says what kind of key or device token it is. */
function given(shell: Shell, raw: string, source: string): FoundCredential {
  const secret = cleanToken(shell, raw, source);
  const told = kindOfSecret(secret);
  const kind = told === "user" && source === "RMM_API_KEY" ? "apiKey" : told;
  const credentials = kind === "user" || kind === "agent" ? { token: secret, kind } : { apiKey: secret };
  return { kind, source, credentials };
}

/** The sign-in of this server and profile, whatever else is given. */
export function storedCredential(shell: Shell, { server, profile, stored: of }: Settings): FoundCredential | undefined {
  const signIn = of.signIns[server.value];
  if (signIn === undefined) return undefined;
  const { account, store } = signIn;
  const key = { server: server.value, profile: profile.value, account };
  return {
    kind: "user",
    source: store === "file" ? "token file" : "keychain",
    account,
    credentials: { store: tokenStore(shell, key, store) },
  };
}
