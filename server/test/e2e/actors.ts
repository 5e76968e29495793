import { createClient } from "#sdk/client";
import { RmmError } from "#sdk/errors";
import { type RmmProcess, rmmProcess } from "./rmm-process.ts";

export interface Input {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: Record<string, unknown>;
}

/** The refusal of an endpoint, through the SDK or the command. */
export class Refused extends Error {
  readonly code: string;
  readonly status: number | null;
  /** Exit code of the process. */
  readonly exit: number | undefined;

  constructor(code: string, status: number | null, exit?: number) {
    super(`${code} (${status ?? "no answer"})`);
    this.code = code;
    this.status = status;
    this.exit = exit;
  }
}

/** A user who calls through the SDK or the command, so that one test covers both. */
export interface Actor {
  /** Returns the result; for a list, every entry. Throws `Refused`. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever comes
  call(noun: string, verb: string, input?: Input): Promise<any>;
  close(): void;
}

export const ways = ["the SDK", "the rmm process"] as const;

export const actorOf = (way: (typeof ways)[number], url: string, token: string): Actor =>
  way === "the SDK" ? sdkActor(url, token) : rmmActor(rmmProcess({ RMM_SERVER: url, RMM_TOKEN: token }));

type Methods = Record<
  string,
  Record<string, (input: Input) => PromiseLike<unknown> & { toArray?(): Promise<unknown[]> }>
>;

function sdkActor(baseUrl: string, token: string): Actor {
  const client = createClient({ baseUrl, credentials: { token } }) as unknown as Methods;
  return {
    async call(noun, verb, input = {}) {
      try {
        const call = client[noun]![verb]!(input);
        return await (call.toArray ? call.toArray() : call);
      } catch (error) {
        if (error instanceof RmmError) throw new Refused(error.code, error.status ?? null);
        throw error;
      }
    },
    close: () => undefined,
  };
}

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function rmmActor(rmm: RmmProcess): Actor {
  return {
    async call(noun, verb, { params = {}, query = {}, body } = {}) {
      const flags = Object.entries(query).flatMap(([name, value]) => [`--${kebab(name)}`, String(value)]);
      const argv = [kebab(noun), kebab(verb), ...Object.values(params), ...flags, "--json", "--yes"];
      const listed = /^(list|logs|search|anchors)/.test(verb) ? ["--all"] : [];
      const { code, stdout, stderr } = await rmm.run(
        [...argv, ...listed, ...(body === undefined ? [] : ["-f", "-"])],
        body === undefined ? {} : { stdin: JSON.stringify(body) },
      );
      if (code === 0) return JSON.parse(stdout);
      if (stdout !== "") throw new Error(`stdout is not empty on failure: ${stdout}`);
      const { error } = JSON.parse(stderr.slice(stderr.indexOf('{"error"'))) as { error: Refused };
      throw new Refused(error.code, error.status, code ?? undefined);
    },
    close: () => rmm.close(),
  };
}
