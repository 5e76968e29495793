import type { Call } from "#server/http/call";

const PATHS_MAX = 20;

/** Paths that were sent and are not in what was kept: unknown, malformed, or items past the end of a list. */
export function leftOut(sent: unknown, kept: unknown, path = ""): string[] {
  if (kept === undefined) return sent === null || path === "" ? [] : [path];
  if (Array.isArray(sent)) return Array.isArray(kept) && kept.length === sent.length ? [] : [path];
  if (!isObject(sent) || !isObject(kept)) return [];
  return Object.entries(sent).flatMap(([name, value]) =>
    leftOut(value, kept[name], path === "" ? name : `${path}.${name}`),
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** For the answer of an agent's report, and the log (docs/fleet.md, "Agent leniency"). */
export function ignoredFields(call: Pick<Call, "body" | "sentBody" | "log" | "requestId">): {
  ignoredFields?: string[];
} {
  const paths = leftOut(call.sentBody, call.body).slice(0, PATHS_MAX);
  if (paths.length === 0) return {};
  call.log.info("agent.fields_ignored", { requestId: call.requestId, paths });
  return { ignoredFields: paths };
}
