import { expect } from "vitest";
import type { CanaryRun } from "./canary-run.ts";

export interface Planting {
  /** The secret for a name; always the same one for the same name. */
  plant(what: string): string;
  readonly planted: ReadonlyMap<string, string>;
}

/** Makes secrets that can be recognized in any text, whole or in part. */
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

/** Half a secret in a message counts as a leak too. */
const TELLING = 14;

export const shows = (text: string, secret: string): boolean =>
  text.includes(secret.slice(0, TELLING)) || text.includes(secret.slice(-TELLING));

/** Expects no secret on stderr, in files, arguments and environments, and on stdout only the allowed ones. */
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
