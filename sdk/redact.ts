const MASK = "********";
/** Hashes of passwords and keys are; those of programs are what people decide on. */
const telling = /secret|password|token|(?<!match|executable_?)hash|authorization|cookie|api-?key$|recoverycodes/i;

/**
 * Copy of a value with the fields at `paths` masked (`key`, `user.token`, `items[].secret`), and every
 * field whose name says that it is a secret.
 */
export function redacted(value: unknown, paths: readonly string[] = []): unknown {
  return copy(value, "", new Set(paths));
}

function copy(value: unknown, path: string, paths: ReadonlySet<string>): unknown {
  if (value === null || value === undefined) return value;
  if (paths.has(path) && path !== "") return MASK;
  if (Array.isArray(value)) return value.map((entry) => copy(entry, `${path}[]`, paths));
  if (typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      telling.test(key) && typeof child === "string" ? MASK : copy(child, path === "" ? key : `${path}.${key}`, paths),
    ]),
  );
}

/** The secret strings found at `paths` of a value. */
export function secretsIn(value: unknown, paths: readonly string[]): string[] {
  return paths.flatMap((path) => valuesAt(value, path.split(/\.|(?=\[\])/))).filter((one) => one.length >= 4);
}

function valuesAt(value: unknown, [step, ...rest]: string[]): string[] {
  if (typeof value === "string" && step === undefined) return [value];
  if (Array.isArray(value)) {
    return value.flatMap((entry) => valuesAt(entry, step === "[]" ? rest : step === undefined ? [] : [step, ...rest]));
  }
  if (typeof value !== "object" || value === null || step === undefined) return [];
  return valuesAt((value as Record<string, unknown>)[step], rest);
}

/** Masks secret strings anywhere in a text or value that a server or a library repeats. */
export function scrubbed<T>(value: T, secrets: readonly string[]): T {
  if (secrets.length === 0) return value;
  if (typeof value === "string") {
    return secrets.reduce<string>((text, secret) => text.replaceAll(secret, MASK), value) as T;
  }
  if (Array.isArray(value)) return value.map((entry) => scrubbed(entry, secrets)) as T;
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, scrubbed(child, secrets)])) as T;
  }
  return value;
}
