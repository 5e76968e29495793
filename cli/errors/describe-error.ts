import {
  AbortedError,
  ConflictError,
  ConnectionError,
  CredentialError,
  ForbiddenError,
  MfaRequiredError,
  NotFoundError,
  NotRmmServerError,
  OutcomeUnknownError,
  PreconditionError,
  RateLimitError,
  RmmError,
  TimeoutError,
  UnauthenticatedError,
  UnavailableError,
  UnprocessableError,
} from "#sdk/errors";
import { systemReason } from "#sdk/node/system-reason";
import { argumentFault } from "./argument-fault.ts";
import { CliError } from "./cli-error.ts";
import type { ExitName } from "./exit-codes.ts";
import { hintFor } from "./hints.ts";

/** The shape that `--json` prints under `error`. */
export interface DescribedError {
  code: string;
  message: string;
  status: number | undefined;
  requestId: string | undefined;
  details: unknown;
  hint: string | undefined;
}

export interface Described {
  exit: ExitName;
  error: DescribedError;
}

/** Reads whatever was thrown into an exit code and what to say about it. */
export function describeError(thrown: unknown, nowMs = Date.now()): Described {
  if (thrown instanceof CliError) {
    const { exit, code, message, details, hint } = thrown;
    return { exit, error: { code, message, status: undefined, requestId: undefined, details, hint } };
  }
  const refused = argumentFault(thrown);
  if (refused !== undefined) return describeError(refused);
  if (thrown instanceof RmmError) {
    const { code, status, requestId, details } = thrown;
    const message = thrown instanceof AbortedError ? interrupted(thrown) : thrown.message;
    return { exit: exitOf(thrown), error: { code, message, status, requestId, details, hint: hintFor(thrown, nowMs) } };
  }
  return { exit: exitOfForeign(thrown), error: foreign(thrown) };
}

const interrupted = ({ outcome }: AbortedError): string =>
  outcome === "unknown" ? "Interrupted: the call may have been carried out" : "Interrupted";

function exitOf(error: RmmError): ExitName {
  if (error instanceof OutcomeUnknownError) return "unknown";
  if (error instanceof NotRmmServerError) return "notRmm";
  if (error instanceof AbortedError) return "interrupted";
  if (error instanceof NotFoundError) return "notFound";
  if (error instanceof UnauthenticatedError || error instanceof MfaRequiredError) return "unauthenticated";
  if (error instanceof CredentialError) return "unauthenticated";
  if (error instanceof ForbiddenError) return "forbidden";
  // The same request is being carried out: it is not refused, and can be repeated in a moment.
  if (error.code === "IDEMPOTENCY_IN_FLIGHT") return "tryLater";
  const state = [ConflictError, PreconditionError, UnprocessableError];
  if (state.some((kind) => error instanceof kind)) return "conflict";
  const passing = [RateLimitError, UnavailableError, ConnectionError, TimeoutError];
  if (passing.some((kind) => error instanceof kind)) return "tryLater";
  return "failure";
}

const interruptions = new Set(["ExitPromptError", "AbortError", "AbortPromptError"]);

const exitOfForeign = (thrown: unknown): ExitName =>
  thrown instanceof Error && interruptions.has(thrown.name) ? "interrupted" : "failure";

const deeds: Readonly<Record<string, string>> = {
  mkdir: "make the folder",
  open: "open",
  write: "write to",
  read: "read",
};

const systemText = (syscall: string, path: string, error: unknown): string =>
  `Cannot ${deeds[syscall] ?? "use"} ${path}: ${systemReason(error)}`;

/** Errors of the system name the file and the reason; anything else is a fault of this program. */
function foreign(thrown: unknown): DescribedError {
  const none = { status: undefined, requestId: undefined, details: undefined, hint: undefined };
  if (!(thrown instanceof Error)) return { ...none, code: "INTERNAL", message: "Unexpected failure" };
  if (interruptions.has(thrown.name)) return { ...none, code: "INTERRUPTED", message: "Interrupted" };
  const { code, path, syscall } = thrown as NodeJS.ErrnoException;
  const message = syscall === undefined || path === undefined ? thrown.message : systemText(syscall, path, thrown);
  return { ...none, code: typeof code === "string" ? code : "INTERNAL", message };
}
