import { withoutInvisible } from "#contract/core/characters";

/** Of the whole answer of a tool, as JSON. */
const RESULT_BYTES_MAX = 256 * 1024;

export interface ToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly structuredContent: Readonly<Record<string, unknown>>;
  readonly isError?: true;
}

/**
 * What a model gets (docs/mcp.md, "Results"): text without characters that nobody sees, and at most so many bytes; of
 * what is longer the largest lists are cut.
 */
export function resultOf(answer: object, { isError = false } = {}): ToolResult {
  let structured = cleaned(JSON.parse(JSON.stringify(answer))) as Record<string, unknown>;
  let made = wrapped(structured, isError);
  while (bytesOf(made) > RESULT_BYTES_MAX) {
    structured = { ...cut(structured), truncated: true };
    made = wrapped(structured, isError);
  }
  return made;
}

const wrapped = (structured: Record<string, unknown>, isError: boolean): ToolResult => ({
  content: [{ type: "text", text: JSON.stringify(structured) }],
  structuredContent: structured,
  ...(isError && { isError: true }),
});

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Half of the longest list, or without the largest field where there is none to halve. */
function cut(structured: Record<string, unknown>): Record<string, unknown> {
  const fields = Object.entries(structured).filter(([name]) => name !== "truncated");
  const [name, value] = fields.reduce((one, other) => (bytesOf(other[1]) > bytesOf(one[1]) ? other : one));
  if (Array.isArray(value) && value.length > 1)
    return { ...structured, [name]: value.slice(0, Math.floor(value.length / 2)) };
  const { [name]: _, ...rest } = structured;
  return rest;
}

function cleaned(value: unknown): unknown {
  if (typeof value === "string") return withoutInvisible(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cleaned(inner)]));
}
