/** Why a request was refused, what the provider's error is, or the library's code with the claim it is about. */
export function reasonOf(error: unknown): string {
  let found = "unknown";
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const { reason, code, error: told } = cause as { reason?: unknown; code?: unknown; error?: unknown };
    const { claim } = (cause.cause ?? {}) as { claim?: unknown };
    if (typeof claim === "string" && isPlain(code)) return `${code}.${claim}`.toLowerCase().slice(0, 128);
    if (found === "unknown") found = [reason, told, code].find(isPlain)?.toLowerCase() ?? found;
  }
  return found;
}

/** Status of the answer that an error of the library is about. */
export function statusOf(error: unknown): number | undefined {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const { response, status } = cause as { response?: { status?: unknown }; status?: unknown };
    const found = [status, response?.status, (cause.cause as { status?: unknown } | undefined)?.status];
    const known = found.find((one) => typeof one === "number");
    if (typeof known === "number") return known;
  }
  return undefined;
}

const isPlain = (value: unknown): value is string => typeof value === "string" && /^[\w.-]{1,64}$/.test(value);
