import { invalid, problem } from "#server/problem";
import { isReservedHeader, unknownPatterns } from "./rules.ts";
import type { Header } from "./sealed.ts";

export function refuseUnknownEvents(patterns: readonly string[]): void {
  const unknown = unknownPatterns(patterns);
  if (unknown.length > 0) throw problem("UNKNOWN_EVENT", { details: { unknown } });
}

export function refuseHeaders(headers: readonly { key: string }[]): void {
  const seen = new Set<string>();
  headers.forEach(({ key }, index) => {
    const path = `headers[${index}].key`;
    if (isReservedHeader(key)) throw invalid({ path, message: `${path}: ${key} is reserved` });
    if (seen.has(key.toLowerCase())) throw invalid({ path, message: `${path}: ${key} is given more than once` });
    seen.add(key.toLowerCase());
  });
}

/** The list as it will be: a header without a value keeps the one that is stored under its key. */
export function mergedHeaders(
  given: readonly { key: string; value?: string | undefined }[],
  stored: readonly Header[],
): Header[] {
  return given.map(({ key, value }, index) => {
    const kept = value ?? stored.find((one) => one.key.toLowerCase() === key.toLowerCase())?.value;
    const path = `headers[${index}].value`;
    if (kept === undefined) throw invalid({ path, message: `${path}: there is no stored value of ${key}` });
    return { key, value: kept };
  });
}
