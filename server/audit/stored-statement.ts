import type { ChainStatement } from "./anchor-format.ts";

/** A statement as a database gives it: the fields that a prune record does not have are null or false there. */
export function storedStatement(stored: Record<string, unknown>): ChainStatement {
  const { restates, breakCount, ...statement } = stored;
  return {
    ...statement,
    ...(restates ? { restates: true } : {}),
    ...(typeof breakCount === "number" ? { breakCount } : {}),
  } as ChainStatement;
}
