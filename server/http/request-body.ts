import type { IncomingMessage } from "node:http";
import { jsonFaults } from "#contract/core/exact-json";
import { unstorable } from "#contract/core/storable";
import { invalid, Problem, problem } from "#server/problem";

/** Deeper JSON than this is nothing a caller means, and recursion over it would overflow the stack. */
const JSON_DEPTH_MAX = 150;

export interface BodyRules {
  limitBytes: number;
  /** What machines report is kept with U+FFFD for what text cannot hold; what people send with it is refused. */
  scrub: boolean;
}

/** Reads a JSON body; `undefined` when there is none. */
export async function readJson(request: IncomingMessage, { limitBytes, scrub }: BodyRules): Promise<unknown> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limitBytes) throw tooLarge(request, limitBytes);
  const hasBody = declared > 0 || request.headers["transfer-encoding"] !== undefined;
  if (!hasBody) return undefined;
  if (request.headers["content-encoding"] !== undefined && request.headers["content-encoding"] !== "identity") {
    throw problem("INVALID_JSON", { message: "Compressed bodies are not read" });
  }
  const bytes = await readAll(request, limitBytes);
  if (bytes.length === 0) return undefined;
  const type = request.headers["content-type"] ?? "";
  if (!/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type)) {
    throw problem("INVALID_JSON", { message: "Content-Type must be application/json" });
  }
  return parseJson(bytes, scrub);
}

async function readAll(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request) {
      size += (chunk as Buffer).length;
      if (size > limitBytes) throw tooLarge(request, limitBytes);
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    // The client disconnected: the answer is not read, and it is not an error of this server.
    throw error instanceof Problem ? error : problem("INVALID_JSON", { message: "The body ended early", cause: error });
  }
  return Buffer.concat(chunks);
}

/** The rest of the body is not read: the connection is closed after the answer. */
function tooLarge(request: IncomingMessage, limitBytes: number) {
  request.pause();
  return problem("PAYLOAD_TOO_LARGE", { details: { limitBytes } });
}

/** `scrub` as in `BodyRules`. */
export function parseJson(bytes: Buffer, scrub: boolean): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw problem("INVALID_JSON", { message: "Body is not UTF-8" });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw problem("INVALID_JSON");
  }
  if (depthExceeds(value, JSON_DEPTH_MAX)) throw problem("INVALID_JSON", { message: "Body is nested too deeply" });
  if (scrub) return mayNeedScrub.test(text) ? scrubbed(value) : value;
  // What comes out as it went in has nothing to find, and is most of what clients send.
  if (!mayHoldUnstorable.test(text) && JSON.stringify(value) === text) return value;
  const faults = jsonFaults(text);
  if (faults.length > 0) throw invalid(...faults.map(({ path, message }) => ({ path, message })));
  return value;
}

const mayHoldUnstorable = /\\u(?:0000|d[89a-f])|__proto__/i;
const mayNeedScrub = /\\u(?:0000|d[89a-f])|__proto__|\d[eE]\+?\d{3}|\d{309}/i;

/** Half characters become U+FFFD, and numbers beyond all doubles null. */
function scrubbed(value: unknown): unknown {
  const text = JSON.stringify(value, (key, one: unknown) => (key === "__proto__" ? undefined : one));
  return JSON.parse(text.replaceAll(unstorable, "$1\\ufffd"));
}

function depthExceeds(root: unknown, max: number): boolean {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > max) return true;
    const next: unknown[] = [];
    for (const value of level) {
      if (value !== null && typeof value === "object") for (const item of Object.values(value)) next.push(item);
    }
    level = next;
  }
  return false;
}
