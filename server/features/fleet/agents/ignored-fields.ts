import type { Call } from "#server/http/call";

const PATHS_MAX = 20;

/**
 * Paths that were sent and are not in what was kept: unknown, malformed, or read as `unknown`. A list that was cut, or
 * lost items, is named as a whole.
 */
export function* leftOut(sent: unknown, kept: unknown, path = ""): Generator<string> {
  if (kept === undefined) {
    if (sent !== null && path !== "") yield path;
  } else if (Array.isArray(sent)) {
    if (!Array.isArray(kept) || kept.length !== sent.length) yield path;
    else for (const [at, item] of sent.entries()) yield* leftOut(item, kept[at], `${path}[${at}]`);
  } else if (isObject(sent)) {
    if (!isObject(kept)) return;
    for (const name of Object.keys(sent))
      yield* leftOut(sent[name], kept[name], path === "" ? name : `${path}.${name}`);
  } else if (kept === "unknown" && sent !== kept) yield path;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** For the answer of an agent's report, and the log (docs/fleet.md, "Agent leniency"). */
export function ignoredFields(call: Pick<Call, "body" | "sentBody" | "log" | "requestId">): {
  ignoredFields?: string[];
} {
  // Of a list whose items all lack the same, the first stands for all.
  const kinds = new Map<string, string>();
  for (const path of leftOut(call.sentBody, call.body)) {
    const kind = path.replace(/\[\d+\]/g, "[]");
    if (!kinds.has(kind)) kinds.set(kind, path);
    if (kinds.size === PATHS_MAX) break;
  }
  if (kinds.size === 0) return {};
  const paths = [...kinds.values()];
  call.log.info("agent.fields_ignored", { requestId: call.requestId, paths });
  return { ignoredFields: paths };
}
