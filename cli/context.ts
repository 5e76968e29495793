import type { RmmClient } from "#sdk/client";
import type { Hooks } from "#sdk/options";
import { clientOf } from "./client.ts";
import { CliError } from "./errors/cli-error.ts";
import { completed } from "./errors/commands-to-type.ts";
import type { Globals } from "./globals.ts";
import { escapeControls } from "./output/escape.ts";
import { fitted } from "./output/wrap.ts";
import { type FoundCredential, findCredential } from "./profile/credential.ts";
import { refusePlainHttp } from "./profile/plain-http.ts";
import { readSettings, type Settings } from "./profile/settings.ts";
import { isInteractive, type Shell, writeTo } from "./shell.ts";

/** One run of one command. */
export interface Context {
  readonly shell: Shell;
  readonly globals: Globals;
  readonly settings: Settings;
  /** True if the user can be prompted. */
  readonly interactive: boolean;
  /** Prints a line on stderr, unless --quiet. */
  notice(text: string): Promise<void>;
  /** True once the server has carried out something other than a read. */
  hasChanged(): boolean;
  credential(): Promise<FoundCredential | undefined>;
  /** Also works for public endpoints, which need no credential. */
  client(use?: "credential" | "none", hooks?: Hooks): Promise<RmmClient>;
}

/** Conditions are too long for an address: what looks at devices by them is a POST that changes nothing. */
const readsByPost = /\.(query|preview\w*)$/;

/** Determines which server to call. `mayBeNew`: the command creates the profile if it does not exist. */
export async function openContext(shell: Shell, globals: Globals, { mayBeNew = false } = {}): Promise<Context> {
  const settings = await readSettings(shell, globals, mayBeNew);
  // Before a password is typed or read that may not be sent.
  if (globals.calls && !globals.dryRun) refusePlainHttp(globals, settings);
  if (globals.jq !== undefined) await (await import("./output/jq.ts")).checkJq(globals.jq);
  let changed = false;
  let credential: Promise<FoundCredential | undefined> | undefined;
  const context: Context = {
    shell,
    globals,
    settings,
    interactive: isInteractive(shell, !globals.input),
    notice: async (text) => {
      if (globals.quiet) return;
      const line = escapeControls(completed(text, globals.given));
      await writeTo(shell, "stderr", `${fitted(shell, line)}\n`);
    },
    hasChanged: () => changed,
    credential: () => {
      credential ??= findCredential(shell, globals, settings);
      return credential;
    },
    client: async (use = "credential", hooks = {}) =>
      clientOf(context, use === "none" ? undefined : await getCredential(context), {
        ...hooks,
        onResponse: (event) => {
          changed ||= event.method !== "GET" && event.status < 300 && !readsByPost.test(event.operation);
          hooks.onResponse?.(event);
        },
      }),
  };
  return context;
}

/** The credential of this run; exit 4 when there is none. */
export async function getCredential(context: Context): Promise<FoundCredential> {
  const found = await context.credential();
  if (found) return found;
  const { server, profile } = context.settings;
  throw new CliError(`Not signed in to ${server.value} (profile ${profile.value})`, {
    exit: "unauthenticated",
    code: "NOT_SIGNED_IN",
    hint: "Sign in with `rmm auth login`, or set RMM_TOKEN or RMM_API_KEY",
  });
}
