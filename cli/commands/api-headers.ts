import { usageError } from "../errors/cli-error.ts";
import { escapeControls } from "../output/escape.ts";
import type { ApiOptions } from "./api-request.ts";

/** Headers for authentication, and those that the transport sets. */
const refused =
  /^(authorization|proxy-authorization|x-api-key|cookie|host|content-length|connection|transfer-encoding)$/i;

/** Parses `-H name:value`. Credentials are refused, because other users of the machine can see arguments. */
export function headersOf({ addHeader = [] }: ApiOptions): Record<string, string> {
  return Object.fromEntries(
    addHeader.map((text) => {
      const at = text.indexOf(":");
      const name = text.slice(0, Math.max(0, at)).trim();
      if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) throw usageError("-H takes name:value");
      if (refused.test(name)) throw usageError(`-H cannot set ${name.toLowerCase()}`, "See `rmm help environment`");
      return [name.toLowerCase(), text.slice(at + 1).trim()];
    }),
  );
}

/** What came before the body of an answer; the SDK has masked its secrets. */
export interface Head {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** `HTTP 200` and the headers. */
export function headText({ status, headers }: Head): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP ${status}`, ...lines].map(escapeControls).join("\n")}\n\n`;
}
