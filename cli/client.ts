import { createClient, type RmmClient } from "#sdk/client";
import type { Hooks } from "#sdk/options";
import type { Transport } from "#sdk/transport";
import type { Globals } from "./globals.ts";
import { escapeControls } from "./output/escape.ts";
import type { FoundCredential } from "./profile/credential.ts";
import { refusePlainHttp } from "./profile/plain-http.ts";
import type { Settings } from "./profile/settings.ts";
import { type Shell, writeTo } from "./shell.ts";
import { version } from "./version.ts";

/** The settings of a run that its API calls depend on. */
interface Caller {
  readonly shell: Shell;
  readonly globals: Globals;
  readonly settings: Settings;
}

/** The SDK's client for this run. Uses node:http, because the first `fetch` of Node 20 takes 0.3 s. */
export function clientOf(caller: Caller, credential: FoundCredential | undefined, hooks: Hooks = {}): RmmClient {
  const { shell, globals, settings } = caller;
  refusePlainHttp(globals, settings);
  return createClient({
    baseUrl: settings.server.value,
    credentials: credential?.credentials,
    transport: shell.transport ?? lazyTransport(shell.env),
    now: shell.now,
    ...(shell.random === undefined ? {} : { random: shell.random }),
    headers: { "user-agent": `rmm/${version}` },
    ...(globals.timeoutMs === undefined ? {} : { timeoutMs: globals.timeoutMs }),
    hooks: globals.debug ? joined(debugHooks(caller), hooks) : hooks,
  });
}

/** Both are told of an answer; of the rest only what is debugged is of interest. */
const joined = (debug: Hooks, own: Hooks): Hooks => ({
  ...debug,
  onResponse: (event) => {
    own.onResponse?.(event);
    debug.onResponse?.(event);
  },
});

/** node:http is loaded with the first request: help needs none. */
function lazyTransport(env: Shell["env"]): Transport {
  let transport: Promise<Transport> | undefined;
  return async (request) => {
    transport ??= import("#sdk/node").then(({ nodeTransport }) => nodeTransport({ env }));
    return (await transport)(request);
  };
}

/** What --debug shows. The SDK has masked credentials and secret fields already. */
function debugHooks({ shell }: Caller): Hooks {
  const line = (text: string) =>
    void writeTo(shell, "stderr", `debug: ${escapeControls(text)}\n`).catch(() => undefined);
  return {
    onRequest: ({ method, url, headers, body, attempt }) => {
      const again = attempt > 1 ? ` (attempt ${attempt})` : "";
      line(
        `> ${method} ${url}${again} ${JSON.stringify(headers)}${body === undefined ? "" : ` ${JSON.stringify(body)}`}`,
      );
    },
    onResponse: ({ status, requestId, durationMs }) =>
      line(`< ${status} in ${Math.round(durationMs)} ms${requestId === undefined ? "" : `, request ${requestId}`}`),
    onRetry: ({ waitMs, error }) => line(`retry in ${waitMs} ms after ${error.code}`),
  };
}
