import { spawn } from "node:child_process";
import { sibling, type Target } from "./target.ts";

const CONNECTIONS = "32";
const ROUND_MS = "3000";

/** Requests per second that a server answers, sent by a separate process. */
export function load({ url, path, token }: Target): Promise<number> {
  const { hostname, port } = new URL(url);
  const headers = token === undefined ? [] : [`Authorization: Bearer ${token}`];
  const child = spawn(
    process.execPath,
    [...process.execArgv, sibling("load"), hostname, port, path, CONNECTIONS, ROUND_MS, ...headers],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.stdout?.once("data", (line: Buffer) => {
      const { perSecond, failed } = JSON.parse(line.toString()) as { perSecond: number; failed: number };
      if (failed > 0) reject(new Error(`${failed} requests to ${path} failed`));
      else resolve(perSecond);
    });
  });
}
