import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Seen {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: unknown;
}

export type Reply = { status?: number; body?: unknown; headers?: Record<string, string> };
export type Handler = (
  seen: Seen,
  response: ServerResponse,
  count: number,
) => Reply | undefined | Promise<Reply | undefined>;

export interface Stub {
  readonly url: string;
  readonly seen: Seen[];
  close(): Promise<void>;
}

/** A server for tests that answers what the handler returns; a handler that returns nothing has answered by itself. */
export async function stubServer(handler: Handler): Promise<Stub> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const { method = "", url = "", headers } = request;
    const one: Seen = { method, path: url, headers, body: text === "" ? undefined : JSON.parse(text) };
    seen.push(one);
    const reply = await handler(one, response, seen.length);
    if (reply === undefined) return;
    const { status = 200, body, headers: extra = {} } = reply;
    response.writeHead(status, { "content-type": "application/json", "x-request-id": `req-${seen.length}`, ...extra });
    response.end(typeof body === "string" ? body : JSON.stringify(body ?? {}));
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close: () => closed(server) };
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

/** An error answer as the API writes it. */
export const refusal = (
  status: number,
  code: string,
  more: object = {},
  headers: Record<string, string> = {},
): Reply => ({
  status,
  body: { error: code, code, ...more },
  headers,
});
