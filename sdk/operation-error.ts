import type { OperationErrors } from "./generated/operation-errors.ts";
import { RmmError } from "./rmm-error.ts";

export type { OperationErrors } from "./generated/operation-errors.ts";

/** An error with the codes that an operation may answer. */
export type OperationError<O extends keyof OperationErrors> = RmmError & {
  readonly operation: O;
  readonly status: number;
  readonly code: OperationErrors[O];
};

/**
 * True for what the server answered to this operation; its `code` is then known by the type check. A newer server may
 * know more codes: a `switch` keeps its `default`.
 *
 * @example
 * if (isErrorOf("organizations.create", error) && error.code === "SLUG_TAKEN") …
 */
export const isErrorOf = <O extends keyof OperationErrors>(operation: O, error: unknown): error is OperationError<O> =>
  error instanceof RmmError && error.operation === operation && error.status !== undefined;
