import { marksOf } from "./marks.ts";
import { nounOf } from "./nouns.ts";
import { readings } from "./readings/all.ts";
import { everyScope, type Reading, type Statement } from "./readings/reading.ts";
import type { Segment } from "./segments.ts";

/** What holds where nothing else is said. */
export const blank: Statement = {
  kinds: ["user"],
  scopes: everyScope,
  permissions: null,
  keyScopes: [],
  mfa: false,
  fullPartner: false,
  watchdog: false,
  exempt: [],
  errors: [],
  audit: null,
  events: [],
};

/** The part of a statement that a mark can make. */
export type Gate = Pick<Statement, "kinds" | "scopes" | "permissions" | "keyScopes" | "mfa" | "fullPartner">;

/** Whether a reading speaks of an endpoint: by its name, or by its noun and method. */
export function speaksOf({ of }: Reading, endpoint: string): boolean {
  return of.some((one) => {
    const [methods, subject] = one.split(" ") as [string, string];
    if (subject.startsWith("/")) return one === endpoint;
    if (subject !== nounOf(endpoint).noun) return false;
    return methods === "ALL" || (methods === "GET") === endpoint.startsWith("GET ");
  });
}

export const sectionsFor = (endpoint: string) => readings.sections.filter((reading) => speaksOf(reading, endpoint));
export const correctionsFor = (endpoint: string) =>
  readings.corrections.filter((reading) => speaksOf(reading, endpoint));

/** What readings say together: later ones win. */
export const together = (of: readonly Reading[]): Partial<Statement> =>
  Object.assign({}, ...of.map(({ says }) => says));

/** The gate of each definition by its section and its marks, and the marks that nobody has read. */
export function gatesOf(segments: readonly Segment[]): { gates: Map<string, Gate>; faults: string[] } {
  const gates = new Map<string, Gate>();
  const faults: string[] = [];
  let before: Gate = blank;
  // "same" points to the definition before it, so definitions are taken in the order of the documents.
  for (const { endpoint, document, text } of segments) {
    const marks = marksOf(document, text);
    const section: Gate = { ...blank, ...together(sectionsFor(endpoint)) };
    const corrections = correctionsFor(endpoint);
    if (marks && marks !== "same" && marks.unread && corrections.length === 0)
      faults.push(`${endpoint}: nobody has read "${marks.unread}"`);
    const gate = marks === "same" ? before : marks ? { ...section, ...marked(marks, section) } : section;
    before = fieldsOf({ ...gate, ...together(corrections) });
    gates.set(endpoint, before);
  }
  return { gates, faults };
}

/** A mark of MFA alone leaves the permission to the section; a credential alone says that none is needed. */
function marked(marks: Exclude<ReturnType<typeof marksOf>, "same" | undefined>, section: Gate): Partial<Gate> {
  const { unread: _, ...gate } = marks;
  if (marks.permissions.length > 0 || marks.kinds) return gate;
  return { ...gate, permissions: section.permissions, mfa: marks.mfa || section.mfa };
}

function fieldsOf({ kinds, scopes, permissions, keyScopes, mfa, fullPartner }: Gate): Gate {
  return { kinds, scopes, permissions, keyScopes, mfa, fullPartner };
}
