/** Patterns of secrets that must not be exported (docs/credentials.md, "Withheld rows"). */
const patterns: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]{1,40}-----/,
  /\bsvc_[A-Za-z0-9_-]{20,}/,
  /\bagt_[0-9a-f]{32,}/,
  /\bbearer\s+[A-Za-z0-9._~+/-]{16,}/i,
  /\b(AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\bAIza[0-9A-Za-z_-]{35}/,
  /\b(password|passwd|pwd)\s*=\s*\S/i,
];

const isSecret = (text: string): boolean => patterns.some((pattern) => pattern.test(text));

/** Paths of the texts in a row that look like secrets: `address.line1`, `tags[0]`. */
export function secretPaths(value: unknown, path = ""): string[] {
  if (typeof value === "string") return isSecret(value) ? [path] : [];
  if (value === null || typeof value !== "object") return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => secretPaths(item, `${path}[${index}]`));
  return Object.entries(value).flatMap(([name, item]) => secretPaths(item, path === "" ? name : `${path}.${name}`));
}
