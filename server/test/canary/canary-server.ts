import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How the chosen requests fail; all others are answered. */
export const faults = [
  "none",
  "busy first",
  "limited first",
  "fails and repeats what it got",
  "refuses and repeats what it got",
  "dies before the answer",
  "dies within the secret",
  "answers garbage around the secret",
  "hangs within the answer",
] as const;
export type Fault = (typeof faults)[number];

export type Route = (body: unknown) => unknown;

export interface CanaryServer {
  readonly url: string;
  /** Called when a fault holds back an answer for the first time. */
  onHang: (() => void) | undefined;
  /** Requests that fail, such as `POST /api-keys`; all mutations if left out. */
  play(fault: Fault, routes: Readonly<Record<string, Route>>, failing?: (request: string) => boolean): void;
  stop(): Promise<void>;
}

const PREFIX = "/api/v1";
const isMutation = (request: string): boolean => !request.startsWith("GET ");

/** A server that answers with planted secrets, and can fail in the middle of an answer. */
export async function canaryServer(): Promise<CanaryServer> {
  let fault: Fault = "none";
  let routes: Readonly<Record<string, Route>> = {};
  let fails = isMutation;
  const seen = new Set<string>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const { pathname } = new URL(request.url ?? "/", "http://canary");
    const key = `${request.method} ${pathname.replace(PREFIX, "")}`;
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    const route = routes[key];
    const result = JSON.stringify(route ? route(body) : {});
    if (route === undefined) return reply(response, 404, JSON.stringify({ error: "no such thing", code: "NOT_FOUND" }));
    const heard = { headers: request.headers, body, url: request.url };
    const again = seen.has(key);
    seen.add(key);
    if (!fails(key) || (again && fault.endsWith("first"))) return reply(response, 200, result);
    fail(response, result, heard);
  };
  const fail = (response: ServerResponse, result: string, heard: object) => {
    const middle = Math.max(1, Math.floor(result.length / 2));
    const within = result.search(/CANARY[0-9a-z]{8}/);
    const part = result.slice(0, within < 0 ? middle : within + 20);
    const repeated = {
      error: `cannot do ${JSON.stringify(heard)}`,
      details: [{ path: "body", message: JSON.stringify(heard) }],
    };
    switch (fault) {
      case "busy first":
        return reply(response, 503, JSON.stringify({ error: "busy", code: "UNAVAILABLE", ...heard }), {
          "retry-after": "0",
        });
      case "limited first":
        return reply(response, 429, JSON.stringify({ error: "slow down", code: "RATE_LIMITED", details: heard }), {
          "retry-after": "0",
        });
      case "fails and repeats what it got":
        return reply(response, 500, JSON.stringify({ ...repeated, code: "INTERNAL_ERROR" }));
      case "refuses and repeats what it got":
        return reply(response, 400, JSON.stringify({ ...repeated, code: "VALIDATION_ERROR" }));
      case "dies before the answer":
        return response.socket?.destroy();
      case "answers garbage around the secret":
        return reply(response, 200, part);
      case "dies within the secret":
      case "hangs within the answer":
        response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(result) });
        return response.write(part, () => {
          if (fault === "dies within the secret") response.socket?.destroy();
          else server.onHang?.();
        });
      default:
        return reply(response, 200, result);
    }
  };
  const http = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const server: CanaryServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    onHang: undefined,
    play(next, answers, only = isMutation) {
      fault = next;
      routes = answers;
      fails = only;
      seen.clear();
    },
    async stop() {
      http.closeAllConnections();
      await new Promise<void>((resolve) => http.close(() => resolve()));
    },
  };
  return server;
}

function reply(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", "x-request-id": "canary", ...headers }).end(text);
}
