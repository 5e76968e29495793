import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Awaited, type HandOver, type Refused, readHandOver, refuseHead, tooLong } from "./hand-over-request.ts";

/** Waits on 127.0.0.1 for the browser to send what a page of the server hands over. */
export interface Listener {
  readonly port: number;
  /** State that the request must contain; others are refused. */
  readonly state: string;
  /** The first result; undefined after the time limit. Rejects with the reason of an abort. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<HandOver | undefined>;
  /** Redirects the browser to a page that says whether it worked. */
  answer(worked: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Most requests that may be under way at once, and how long one may take. */
const MOST_CONNECTIONS = 16;
const REQUEST_MS = 10_000;

/** Longest delay of a timer; a longer one fires at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Listens on a free port of 127.0.0.1. `page` is where the browser is sent back to. */
export async function openListener(page: string, awaited: Awaited): Promise<Listener> {
  const state = randomBytes(32).toString("base64url");
  const arrived = pending<{ handOver: HandOver; response: ServerResponse }>();
  let taken = false;
  const server = createServer({
    headersTimeout: REQUEST_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: 8_192,
  });
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  server.on("request", async (request: IncomingMessage, response: ServerResponse) => {
    const received = refuseHead(request, port, awaited.mostBytes) ?? (await receive(request, state, awaited));
    if (received === undefined) return;
    if ("status" in received) return refuse(response, received);
    if (taken) return refuse(response, { status: 410, reason: "This was answered already" });
    taken = true;
    arrived.resolve({ handOver: received, response });
  });
  return {
    port,
    state,
    wait: async (timeoutMs, signal) => (await withinTime(arrived.promise, timeoutMs, signal))?.handOver,
    answer: async (worked) => {
      if (taken) await sendBack((await arrived.promise).response, `${page}?done=${worked ? 1 : 0}`);
    },
    close: () => closeNow(server),
  };
}

/** Undefined if the request was aborted. */
async function receive(
  request: IncomingMessage,
  state: string,
  awaited: Awaited,
): Promise<HandOver | Refused | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > awaited.mostBytes) return tooLong;
      chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return readHandOver(Buffer.concat(chunks).toString("utf8"), state, awaited);
}

const plain = {
  "cache-control": "no-store",
  connection: "close",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

function refuse(response: ServerResponse, { status, reason }: Refused): void {
  const allow = status === 405 ? { allow: "POST" } : {};
  response.writeHead(status, { ...plain, ...allow, "content-type": "text/plain; charset=utf-8" }).end(`${reason}\n`);
}

async function sendBack(response: ServerResponse, location: string): Promise<void> {
  if (response.destroyed || response.writableEnded) return;
  const sent = new Promise<void>((resolve) => response.once("finish", resolve).once("close", resolve));
  response.writeHead(303, { ...plain, location }).end();
  await sent;
}

async function withinTime<T>(work: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T | undefined> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = pending<undefined>();
  const timer = setTimeout(() => resolve(undefined), Math.min(timeoutMs, LONGEST_MS));
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function pending<T>() {
  let settle!: { resolve: (value: T) => void; reject: (reason: unknown) => void };
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
}

function closeNow(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
