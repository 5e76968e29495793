import { type ChildProcess, spawn } from "node:child_process";
import type { SeededAgent } from "./seed-agents.ts";

/** A server that a bench drives, in a process of its own. */
export interface Target {
  process: ChildProcess;
  url: string;
  path: string;
  token?: string;
  /** Tokens of several people, that of `token` first: limits count for each. */
  people?: readonly string[];
  orgId?: string;
  siteId?: string;
  enrollmentSecret?: string;
  partnerId?: string;
  /** An organization of the seeded fleet. */
  fleetOrgId?: string;
  /** SQLite file of the server. */
  file?: string;
  agents?: readonly SeededAgent[];
}

/** Path of a script in this folder, compiled if this file is. */
export const sibling = (name: string): string =>
  new URL(`./${name}${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url).pathname;

/** Starts a script of this folder and reads the line that says where it listens. Its log goes to a file, as in production. */
export function started(script: string, args: readonly string[]): Promise<Target> {
  const child = spawn(process.execPath, [...process.execArgv, sibling(script), ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${script} ended with ${code}`)));
    let line = "";
    const read = (part: Buffer) => {
      line += part.toString();
      if (!line.endsWith("\n")) return;
      child.stdout?.off("data", read);
      resolve({ process: child, ...JSON.parse(line) } as Target);
    };
    child.stdout?.on("data", read);
  });
}
