import type { ErrorCode } from "#contract/core/errors";
import type { Problem } from "#server/problem";

/** How JSON-RPC says what the pipeline refuses, with the status of HTTP beside it (docs/mcp.md, "Errors"). */
const meanings: Partial<Record<ErrorCode, { readonly code: number; readonly status: number }>> = {
  INVALID_JSON: { code: -32700, status: 400 },
  VALIDATION_ERROR: { code: -32600, status: 400 },
  API_KEY_SCOPE_REQUIRED: { code: -32001, status: 403 },
  INTERNAL_ERROR: { code: -32000, status: 200 },
};

/** Undefined: it has nothing to do with the message, such as a key that is refused, and is told as everywhere. */
export function rpcRefusal(told: Problem, message: unknown, requestId: string) {
  const meaning = meanings[told.code];
  if (!meaning) return undefined;
  const { details } = told.options;
  const more = Array.isArray(details) ? { issues: details } : (details as object | undefined);
  const data = { code: told.code, ...more, ...(told.status >= 500 && { requestId }) };
  const error = { code: meaning.code, message: told.message, data };
  return { status: meaning.status, body: { jsonrpc: "2.0", id: idOf(message), error } };
}

/** Null where it cannot be told which message is meant. */
function idOf(message: unknown): string | number | null {
  const id: unknown = (message as { id?: unknown } | null | undefined)?.id;
  return typeof id === "string" || (typeof id === "number" && Number.isFinite(id)) ? id : null;
}
