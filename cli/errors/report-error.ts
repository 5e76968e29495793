import { escapeControls } from "../output/escape.ts";
import { fitted } from "../output/wrap.ts";
import type { Shell } from "../shell.ts";
import { writeTo } from "../shell.ts";
import type { Described } from "./describe-error.ts";

/** Prints an error on stderr: one JSON object with `--json`, otherwise lines for a person. */
export async function reportError(shell: Shell, { error }: Described, json: boolean): Promise<void> {
  const text = json ? `${JSON.stringify({ error: filled(error) })}\n` : lines(shell, error);
  await writeTo(shell, "stderr", text).catch(() => undefined);
}

/** Every key is there, so that a script need not ask; what is not known is null. */
function filled({ code, message, status, requestId, details, hint }: Described["error"]): Record<string, unknown> {
  const known = { code, message, status, requestId, details, hint };
  return Object.fromEntries(Object.entries(known).map(([key, value]) => [key, value ?? null]));
}

function lines(shell: Shell, { message, code, status, requestId, details, hint }: Described["error"]): string {
  const facts = [
    ...(status === undefined ? [] : [`${status} ${code}`]),
    ...(requestId === undefined ? [] : [`request ${requestId}`]),
  ];
  const about = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
  const all = [
    `rmm: ${message}${about}`,
    ...(told.has(code) ? [] : detailLines(details, message)),
    ...(hint === undefined ? [] : [`  ${hint}`]),
  ];
  return `${all.map((line, at) => fitted(shell, escapeControls(line), at === 0 ? "rmm: ".length : 4)).join("\n")}\n`;
}

/** Message or hint say it in words. */
const told: ReadonlySet<string> = new Set(["MISSING_INPUT", "MFA_REQUIRED"]);

/** What the server found wrong, one line each; not again what the message says already. */
function detailLines(details: unknown, said: string): string[] {
  if (!Array.isArray(details)) return factLines(details, said);
  return details
    .slice(0, 50)
    .flatMap((one) => excerptOf(one) ?? [detailText(one)])
    .filter((text) => !said.split("; ").includes(text))
    .map((text) => `  ${text}`);
}

/** Facts by name, such as the permission that is required: those that fit on a line; `--json` has all of them. */
function factLines(details: unknown, said: string): string[] {
  if (typeof details !== "object" || details === null) return [];
  return Object.entries(details).flatMap(([name, value]) => {
    const values = Array.isArray(value) ? value : [value];
    const plain = values.length > 0 && values.every((one) => ["string", "number", "boolean"].includes(typeof one));
    return plain && !said.includes(values.join()) ? [`  ${name}: ${values.join(", ")}`] : [];
  });
}

/** Of a detail that points into a text: the place and the carets below it, which a message in words does not replace. */
function excerptOf(one: unknown): readonly string[] | undefined {
  const { excerpt } = (one ?? {}) as { excerpt?: unknown };
  return Array.isArray(excerpt) && excerpt.every((line) => typeof line === "string") ? excerpt : undefined;
}

function detailText(one: unknown): string {
  if (typeof one === "string") return one;
  const { path, message } = (one ?? {}) as { path?: unknown; message?: unknown };
  if (typeof message !== "string") return JSON.stringify(one);
  return typeof path === "string" && path !== "" && !message.startsWith(path) ? `${path}: ${message}` : message;
}
