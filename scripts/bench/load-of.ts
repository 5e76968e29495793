import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sibling, type Target } from "./target.ts";

const CONNECTIONS = "32";
const ROUND_MS = "3000";

/** A request as it is sent again and again. */
export interface Asked {
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly headers?: readonly string[];
  /** JSON. */
  readonly body?: string;
}

/** Requests per second that a server answers, sent by a separate process; by default its own path is read. */
export async function load({ url, path, token }: Target, asked?: readonly Asked[]): Promise<number> {
  const { hostname, port } = new URL(url);
  const headers = token === undefined ? [] : [`Authorization: Bearer ${token}`];
  const folder = mkdtempSync(join(tmpdir(), "rmm-load-"));
  const file = join(folder, "requests.json");
  writeFileSync(file, JSON.stringify(asked ?? [{ path, headers }]), { mode: 0o600 });
  const child = spawn(
    process.execPath,
    [...process.execArgv, sibling("load"), hostname, port, file, CONNECTIONS, ROUND_MS],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const outcome = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.stdout?.once("data", (line: Buffer) => {
      const { perSecond, failed } = JSON.parse(line.toString()) as { perSecond: number; failed: number };
      if (failed > 0) reject(new Error(`${failed} requests to ${path} failed`));
      else resolve(perSecond);
    });
  });
  return outcome.finally(() => rmSync(folder, { recursive: true }));
}
