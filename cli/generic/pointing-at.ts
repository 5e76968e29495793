import type { Context } from "../context.ts";
import type { Draft } from "./invocation.ts";

/** Sends a request: what the server finds wrong with an expression of a file is shown where it stands there. */
export async function pointingAt<T>(context: Context, { where }: Draft, call: () => Promise<T>): Promise<T> {
  if (where === undefined) return call();
  // Loaded for an expression alone, for speed.
  const { pointing } = await import("../where/pointing.ts");
  return pointing(context, where, call);
}
