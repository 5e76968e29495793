import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { exitOf } from "../fault/processes.ts";

/** Whether the most memory that a process ever had can be read here. */
export const tellsPeaks = existsSync("/proc/self/status");

/** The most memory that a process had so far, in MB; undefined where it is gone. */
export function peakOf(pid: number): number | undefined {
  try {
    const kb = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    // One that has ended, and was not waited for, has no memory any more.
    return kb === undefined ? undefined : Number(kb) / 1_024;
  } catch {
    return undefined;
  }
}

export interface RanToEnd {
  code: number | null;
  stdout: string;
  stderr: string;
  peakMb: number;
  seconds: number;
}

/** Waits for a process, and watches its memory. Output is counted on to be short. */
export async function ranToEnd(child: ChildProcess): Promise<RanToEnd> {
  const began = performance.now();
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.on("data", (chunk: Buffer) => {
      texts[name] = (texts[name] + chunk.toString()).slice(-10_000);
    });
  let peakMb = 0;
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, peakOf(child.pid as number) ?? 0);
  }, 20);
  const code = await exitOf(child);
  clearInterval(timer);
  return { code, ...texts, peakMb, seconds: (performance.now() - began) / 1_000 };
}
