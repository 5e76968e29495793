import { Agent, request } from "undici";
import { usageError } from "../../errors/cli-error.ts";

/** What came of one attempt. */
export interface ReceiverAnswer {
  readonly responseStatus: number | null;
  readonly responseTimeMs: number;
  /** Null: it arrived. */
  readonly errorMessage: string | null;
}

export interface Receiver {
  /** Undefined where `signal` ended it. */
  post(headers: Record<string, string>, body: string, signal: AbortSignal): Promise<ReceiverAnswer | undefined>;
  close(): Promise<void>;
}

/** As long as the server waits for an answer. */
const TIMEOUT_MS = 30_000;

/** Events name customers and their devices: over http they stay on this machine. */
export function checkForward(text: string, { insecureHttp }: { insecureHttp: boolean }): string {
  if (!URL.canParse(text)) throw usageError(`--forward ${text}: no address such as http://127.0.0.1:8080/hook`);
  const url = new URL(text);
  if (url.username || url.password) throw usageError("--forward: leave out user and password: arguments are no secret");
  const isHere = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === "https:" || (url.protocol === "http:" && (isHere || insecureHttp))) return url.href;
  throw usageError(
    `--forward ${text}: it must be https, or http to this machine`,
    "Plain http to another machine takes --insecure-http",
  );
}

/** Neither follows redirects nor reads what is answered: only the status counts. */
export function receiverAt(url: string): Receiver {
  const agent = new Agent({ connectTimeout: TIMEOUT_MS });
  return {
    async post(headers, body, signal) {
      const began = performance.now();
      const told = (responseStatus: number | null, errorMessage: string | null): ReceiverAnswer => ({
        responseStatus,
        responseTimeMs: Math.round(performance.now() - began),
        errorMessage,
      });
      const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      try {
        const answer = await request(url, { method: "POST", headers, body, signal: limit, dispatcher: agent });
        await answer.body.dump({ limit: 64 * 1024, signal: limit }).catch(() => undefined);
        const { statusCode } = answer;
        const arrived = statusCode >= 200 && statusCode < 300;
        return told(statusCode, arrived ? null : `The receiver answered ${statusCode}`);
      } catch (error) {
        if (signal.aborted) return undefined;
        return told(null, reasonOf(error as Error & { code?: string }));
      }
    },
    close: () => agent.destroy(),
  };
}

function reasonOf({ name, code, message }: Error & { code?: string }): string {
  if (name === "TimeoutError") return `No answer within ${TIMEOUT_MS / 1_000} s`;
  if (code === "ECONNREFUSED") return "Nothing listens there (ECONNREFUSED)";
  return code === undefined || message.includes(code) ? message : `${message} (${code})`;
}
