import { expect } from "vitest";
import type { CanaryRun } from "./canary-run.ts";

export interface Planting {
  /** A secret for a thing, the same one for the same thing. */
  plant(what: string): string;
  readonly planted: ReadonlyMap<string, string>;
}

/** Secrets that can be found again, whole or in part, wherever they turn up. */
export function planting(): Planting {
  const planted = new Map<string, string>();
  return {
    planted,
    plant: (what) => {
      const known = planted.get(what);
      if (known !== undefined) return known;
      const letters = Array.from({ length: 32 }, () => Math.floor(Math.random() * 36).toString(36));
      const secret = `CANARY${letters.join("")}`;
      planted.set(what, secret);
      return secret;
    },
  };
}

/** Half a secret in a message is as bad as all of it. */
const TELLING = 14;

export const shows = (text: string, secret: string): boolean =>
  text.includes(secret.slice(0, TELLING)) || text.includes(secret.slice(-TELLING));

/** No secret is on stderr, in a file or in the arguments and environment of a process; on stdout those that may be. */
export function expectKept(
  run: CanaryRun,
  { planted }: Planting,
  mayPrint: (what: string) => boolean,
  mayStand: (what: string, where: string) => boolean = () => false,
): void {
  for (const [what, secret] of planted) {
    expect(shows(run.stderr, secret), `${what} on stderr: ${run.stderr}`).toBe(false);
    if (!mayPrint(what)) expect(shows(run.stdout, secret), `${what} on stdout: ${run.stdout}`).toBe(false);
    for (const [where, text] of run.elsewhere) {
      if (!mayStand(what, where)) expect(shows(text, secret), `${what} in ${where}`).toBe(false);
    }
  }
}
