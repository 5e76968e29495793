import { usageError } from "../errors/cli-error.ts";
import type { Globals } from "../globals.ts";
import type { Shell } from "../shell.ts";
import {
  getProfile,
  type OutputChoice,
  type Profile,
  type ProfileBook,
  readProfiles,
  type StoreKind,
} from "./profiles.ts";
import { normalizeServer } from "./server-url.ts";

/** A value and where it came from: `--server`, `RMM_SERVER`, `profile prod`, `default`. */
export interface Sourced<T> {
  value: T;
  source: string;
}

/** Which server and tenant to call, in the order flag, environment, profile, default. */
export interface Settings {
  profile: Sourced<string>;
  server: Sourced<string>;
  org: Sourced<string | undefined>;
  output: Sourced<OutputChoice>;
  /** Where a sign-in stores its tokens. */
  store: Sourced<StoreKind>;
  /** The stored profile; empty if it does not exist yet. */
  stored: Profile;
  book: ProfileBook;
}

/** Where `rmm server start` listens. */
export const DEFAULT_SERVER = "http://127.0.0.1:3000";

/** `mayBeNew`: the command makes the profile if it does not exist. */
export async function readSettings(shell: Shell, globals: Globals, mayBeNew = false): Promise<Settings> {
  const book = await readProfiles(shell);
  const profile = first<string>([globals.profile, "--profile"], [shell.env["RMM_PROFILE"], "RMM_PROFILE"]) ?? {
    value: book.current,
    source: Object.hasOwn(book.profiles, book.current) ? "rmm profile use" : "default",
  };
  const known = Object.hasOwn(book.profiles, profile.value);
  const stored = known || !mayBeNew ? getProfile(book, profile.value) : { signIns: {} };
  const from = `profile ${profile.value}`;
  const server = first<string>(
    [globals.server, "--server"],
    [shell.env["RMM_SERVER"], "RMM_SERVER"],
    [stored.server, from],
  );
  if (globals.server === "") throw usageError("--server is empty");
  return {
    profile,
    server: server
      ? { value: normalizeServer(server.value, server.source), source: server.source }
      : { value: DEFAULT_SERVER, source: "default" },
    org: orgOf(shell, globals, stored, from),
    output: stored.output ? { value: stored.output, source: from } : { value: "auto", source: "default" },
    store: stored.store ? { value: stored.store, source: from } : { value: "keychain", source: "default" },
    stored,
    book,
  };
}

/** `--org ""` overrides the environment and the profile with no organization. */
function orgOf(shell: Shell, globals: Globals, stored: Profile, from: string): Settings["org"] {
  if (globals.org === "") return { value: undefined, source: "--org" };
  return (
    first<string>([globals.org, "--org"], [shell.env["RMM_ORG"], "RMM_ORG"], [stored.org, from]) ?? {
      value: undefined,
      source: "default",
    }
  );
}

function first<T>(...choices: [value: T | undefined, source: string][]): Sourced<T> | undefined {
  for (const [value, source] of choices) if (value !== undefined && value !== "") return { value, source };
  return undefined;
}
