import type { IncomingMessage } from "node:http";
import { invalid, problem } from "#server/problem";

/** Deeper JSON than this is nothing a caller means, and recursion over it would overflow the stack. */
const JSON_DEPTH_MAX = 100;

export interface BodyRules {
  limitBytes: number;
  /** What machines report is kept with U+FFFD for each NUL; what people send with one is refused. */
  scrubNul: boolean;
}

/** Reads a JSON body; `undefined` when there is none. */
export async function readJson(request: IncomingMessage, { limitBytes, scrubNul }: BodyRules): Promise<unknown> {
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
  return parse(bytes, scrubNul);
}

async function readAll(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > limitBytes) throw tooLarge(request, limitBytes);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** The rest of the body is not read: the connection is closed after the answer. */
function tooLarge(request: IncomingMessage, limitBytes: number) {
  request.pause();
  return problem("PAYLOAD_TOO_LARGE", { details: { limitBytes } });
}

function parse(bytes: Buffer, scrubNul: boolean): unknown {
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
  if (!text.includes("\\u0000")) return value;
  // Postgres text cannot hold U+0000, the one character JSON can and it cannot.
  const clean = JSON.stringify(value).replaceAll(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1\\ufffd");
  if (scrubNul || clean === JSON.stringify(value)) return JSON.parse(clean);
  throw invalid({ path: "", message: "text must not hold the character U+0000" });
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
