import { type ErrorCode, messageOf, statusFor } from "#contract/core/errors";

export interface ProblemOptions {
  /** Public, machine-readable facts. Never a secret. */
  details?: unknown;
  /** Goes to the log alone. */
  cause?: unknown;
  /** Replaces the public message of the code where the contract words it per case. */
  message?: string;
  /** Fields of the body beside `error`, such as `reason` or `resetAt`. */
  beside?: Record<string, unknown>;
  /** Seconds, for `Retry-After`. */
  retryAfterSeconds?: number;
  /** The answer goes to a device, for the one code whose status depends on it (docs/conventions.md, "Errors"). */
  toAgent?: boolean;
  /** Whether a request that is sent again is refused with it, where its status does not tell (`http/replay-check.ts`). */
  onReplay?: "refuses" | "passes";
  /** The credential that was presented, where somebody has it: for the audit log alone. */
  refused?: RefusedCredential;
}

/** A key, session or device that is known and refused (docs/audit.md, "Which requests are recorded"). */
export interface RefusedCredential {
  readonly actor: { readonly type: "api_key" | "user" | "agent"; readonly id: string };
  /** Neither: the installation's. */
  readonly owner: { readonly orgId?: string | null; readonly partnerId?: string | null };
  /** Why, such as `revoked`: more than the caller is told. */
  readonly reason: string;
  /** The principal whose key it is, or the session. */
  readonly through?: Readonly<Record<string, string>>;
  /** Where a device stands. */
  readonly siteIds?: readonly string[];
}

/** An answer the contract knows. Anything else that is thrown becomes a 500 without internals. */
export class Problem extends Error {
  override name = "Problem";
  readonly code: ErrorCode;
  readonly status: number;
  readonly options: ProblemOptions;

  constructor(code: ErrorCode, options: ProblemOptions = {}) {
    super(options.message ?? messageOf(code), { cause: options.cause });
    this.code = code;
    this.status = statusFor(code, options.toAgent ?? false);
    this.options = options;
  }
}

/** `throw problem("NOT_FOUND")`: the code gives status and public message (docs/conventions.md, "Errors"). */
export const problem = (code: ErrorCode, options?: ProblemOptions): Problem => new Problem(code, options);

/** One or more invalid fields; path "" is the whole body (docs/conventions.md, "Validation"). */
export function invalid(...issues: { path: string; message: string }[]): Problem {
  return problem("VALIDATION_ERROR", { message: issues.map((issue) => issue.message).join("; "), details: issues });
}

const uniqueFields = { SLUG_TAKEN: "slug", NAME_TAKEN: "name", HOSTNAME_TAKEN: "hostname" } as const;

/** Another row has this value, which must be unique; the caller learns which value it is, as a default may have made it. */
export function taken(code: keyof typeof uniqueFields, value: string, cause?: unknown): Problem {
  const field = uniqueFields[code];
  return problem(code, { message: `The ${field} ${value} is taken`, details: { [field]: value }, cause });
}
