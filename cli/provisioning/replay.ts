import { CliError } from "../errors/cli-error.ts";

/** What an answer from the server's memory tells of itself. */
export interface Replay {
  /** An earlier request with the same idempotency key was answered with it. */
  readonly replayed: boolean;
  /** `stale`: its secret was replaced, used up or has expired. `gone`: what it was made for is revoked or removed. */
  readonly secret: "current" | "stale" | "gone";
}

/** Reads the headers of an answer. */
export function replayOf({ headers }: { readonly headers: { get(name: string): string | null } }): Replay {
  const state = headers.get("idempotency-answer");
  return {
    replayed: headers.get("idempotency-replayed") === "true",
    secret: state === "stale" || state === "gone" ? state : "current",
  };
}

/** An earlier request made a secret that nobody can use any more, and this one got the same answer. */
export const deadSecret = (secret: "stale" | "gone", hint: string): CliError =>
  new CliError(
    secret === "stale"
      ? "An earlier request made it, and its secret no longer works: it was replaced, used up or has expired"
      : "An earlier request made it, and it was revoked or removed since",
    { exit: "conflict", code: secret === "stale" ? "SECRET_STALE" : "SECRET_GONE", hint },
  );
