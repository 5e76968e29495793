import type { IncomingMessage } from "node:http";
import WebSocket from "ws";
import type { Answer } from "./harness.ts";

const GIVE_UP_MS = 5_000;

// biome-ignore lint/suspicious/noExplicitAny: tests look at whatever the server says
export type Frame = { type: string } & Record<string, any>;

export interface AgentSocket {
  readonly raw: WebSocket;
  /** The next frame of that type that nobody has taken yet. */
  next(type: string): Promise<Frame>;
  /** Frames of that type that have come and that nobody has taken. */
  waiting(type: string): Frame[];
  send(frame: object | string): void;
  /** The code with which it ended. */
  readonly closed: Promise<number>;
}

export interface Connecting {
  token?: string | undefined;
  headers?: Record<string, string>;
  /** With its question mark. */
  search?: string;
}

/** A socket as an agent opens it, or the answer that refuses it. */
export function connect(
  url: string,
  id: string,
  { token, headers = {}, search = "" }: Connecting = {},
): Promise<{ socket: AgentSocket; refused?: never } | { socket?: never; refused: Answer }> {
  const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const raw = new WebSocket(`${url.replace("http", "ws")}/api/v1/agents/${id}/ws${search}`, {
    headers: { ...authorization, ...headers },
  });
  const socket = reading(raw);
  return new Promise((resolve, reject) => {
    raw.once("open", () => resolve({ socket }));
    raw.once("unexpected-response", (_, response) => resolve(answerOf(response).then((refused) => ({ refused }))));
    raw.once("error", reject);
  });
}

/** A socket that the server has taken. */
export async function connected(url: string, id: string, token: string): Promise<AgentSocket> {
  const { socket, refused } = await connect(url, id, { token });
  if (!socket) throw new Error(`the socket was refused: ${refused.status} ${JSON.stringify(refused.body)}`);
  await socket.next("connected");
  return socket;
}

function reading(raw: WebSocket): AgentSocket {
  const frames: Frame[] = [];
  let wake: () => void = () => undefined;
  raw.on("message", (data: Buffer) => {
    frames.push(JSON.parse(data.toString()));
    wake();
  });
  const closed = new Promise<number>((resolve) => raw.once("close", resolve));
  return {
    raw,
    closed,
    waiting: (type) => frames.filter((frame) => frame.type === type),
    send: (frame) => raw.send(typeof frame === "string" ? frame : JSON.stringify(frame)),
    async next(type) {
      const giveUp = AbortSignal.timeout(GIVE_UP_MS);
      for (;;) {
        const at = frames.findIndex((frame) => frame.type === type);
        if (at >= 0) return frames.splice(at, 1)[0] as Frame;
        if (giveUp.aborted) throw new Error(`no frame ${type} came; there are ${JSON.stringify(frames)}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
          giveUp.addEventListener("abort", () => resolve(), { once: true });
        });
      }
    },
  };
}

async function answerOf(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) headers.set(name, String(value));
  return { status: response.statusCode as number, body: JSON.parse(Buffer.concat(chunks).toString()), headers };
}
