import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { jsonFaults } from "#contract/core/exact-json";
import { unstorable } from "#contract/core/storable";
import { invalid, Problem, problem } from "#server/problem";

/** Deeper JSON than this is nothing a caller means, and recursion over it would overflow the stack. */
const JSON_DEPTH_MAX = 150;

export interface BodyRules {
  /** Of the body as it is sent. */
  limitBytes: number;
  /** Of one in gzip once it is inflated; undefined = none is read. */
  inflatedBytes?: number | undefined;
  /** What machines report is kept with U+FFFD for what text cannot hold; what people send with it is refused. */
  scrub: boolean;
}

/** Reads a JSON body; `undefined` when there is none. */
export async function readJson(
  request: IncomingMessage,
  { limitBytes, inflatedBytes, scrub }: BodyRules,
): Promise<unknown> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limitBytes) throw tooLarge(request, limitBytes);
  const hasBody = declared > 0 || request.headers["transfer-encoding"] !== undefined;
  if (!hasBody) return undefined;
  const encoding = request.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  const zipped = encoding === "gzip" && inflatedBytes !== undefined;
  if (encoding !== "identity" && !zipped) {
    const message =
      inflatedBytes === undefined ? "Compressed bodies are not read" : "Of compressed bodies gzip is read";
    throw problem("INVALID_JSON", { message });
  }
  const sent = await readAll(request, limitBytes);
  const bytes = zipped ? await inflated(sent, inflatedBytes) : sent;
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

const inflate = promisify(gunzip);

/** Gives up where the limit is passed: a few bytes can stand for gigabytes. */
async function inflated(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await inflate(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
      throw problem("PAYLOAD_TOO_LARGE", { details: { limitBytes: maxBytes } });
    throw problem("INVALID_JSON", { message: "Body is not gzip", cause: error });
  }
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
