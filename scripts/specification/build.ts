import { type Catalogues, cataloguesOf } from "./catalogues.ts";
import { type Documents, keyOf, type Listed } from "./documents.ts";
import { factsOf } from "./facts.ts";
import { type Marks, marksOf } from "./marks.ts";
import { nounFaults, nounOf } from "./nouns.ts";
import { answers } from "./readings/answers.ts";
import { audits, writtenElsewhere } from "./readings/audits.ts";
import { gates as gateReadings } from "./readings/gates.ts";
import { everyScope, type Reading, type Statement } from "./readings/reading.ts";
import { sections } from "./readings/sections.ts";
import { type Segment, segmentsOf } from "./segments.ts";
import { exportsOf, liveToolsOf, specificationFaults } from "./tables.ts";

/** What the documents say of one endpoint. */
export interface Entry extends Statement {
  readonly method: string;
  readonly path: string;
  readonly noun: string;
  /** Whether the specification names it or the contract adds it. */
  readonly from: Listed["kind"];
}

export interface Built {
  readonly catalogues: Catalogues;
  readonly endpoints: readonly Entry[];
  /** Where the documents do not hold what this script expects of them; nothing is written while there is one. */
  readonly faults: readonly string[];
}

const corrections: readonly Reading[] = [...gateReadings, ...audits, ...answers];

type Gate = Pick<Statement, "kinds" | "scopes" | "permissions" | "keyScopes" | "mfa" | "fullPartner">;

/** Puts the lists, the marks, the tables and the readings together. */
export function build(documents: Documents): Built {
  const catalogues = cataloguesOf(documents.texts);
  const segments = new Map<string, Segment>();
  const faults = [...nounFaults(documents.conventions, documents.endpoints), ...quoteFaults(documents)];
  for (const segment of segmentsOf(documents.texts, documents.endpoints)) {
    if (segments.has(segment.endpoint)) faults.push(`${segment.endpoint} is defined twice`);
    segments.set(segment.endpoint, segment);
  }
  const tabled = new Map([...exportsOf(documents.texts), ...liveToolsOf(documents.texts)]);
  const gates = new Map<string, Gate>();
  let previous: Gate | undefined;
  // "same" points to the definition before, so definitions are read in the order of the documents.
  for (const segment of segments.values()) {
    const { gate, fault } = gateOf(segment, previous);
    if (fault) faults.push(fault);
    gates.set(segment.endpoint, gate);
    previous = gate;
  }
  const endpoints = documents.endpoints.map((listed) => {
    const endpoint = keyOf(listed);
    const table = tabled.get(endpoint);
    const segment = segments.get(endpoint);
    if (!table && !segment && !correctedBy(endpoint).length) faults.push(`${endpoint} is defined nowhere`);
    const facts = segment ? factsFor(segment, catalogues) : { errors: [], audit: [], events: [] };
    const said: Statement = { ...blank, ...sectionOf(endpoint), ...gates.get(endpoint), ...table };
    return finish(listed, { ...said, errors: facts.errors, events: facts.events }, [...facts.audit, ...(table?.audit ?? [])], documents.endpoints, catalogues);
  });
  return { catalogues, endpoints, faults: [...faults, ...auditFaults(endpoints, catalogues), ...specificationFaults(documents.texts, endpoints)] };
}

const blank: Statement = {
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

/** Whether a reading speaks of an endpoint. */
function speaksOf({ of }: Reading, endpoint: string): boolean {
  const method = endpoint.split(" ")[0] as string;
  return of.some((one) => {
    const [methods, subject] = one.split(" ") as [string, string];
    if (subject.startsWith("/")) return one === endpoint;
    if (subject !== nounOf(endpoint).noun) return false;
    return methods === "ALL" || (methods === "GET") === (method === "GET");
  });
}

const correctedBy = (endpoint: string) => corrections.filter((reading) => speaksOf(reading, endpoint));
const sectionsFor = (endpoint: string) => sections.filter((reading) => speaksOf(reading, endpoint));

function sectionOf(endpoint: string): Partial<Statement> {
  return Object.assign({}, ...sectionsFor(endpoint).map(({ says }) => says));
}

/** Section, then marks, then corrections. */
function gateOf(segment: Segment, previous: Gate | undefined): { gate: Gate; fault?: string } {
  const { endpoint } = segment;
  const marks = marksOf(segment.document, segment.text);
  const corrected = correctedBy(endpoint);
  const section: Gate = { ...blank, ...sectionOf(endpoint) };
  const gate = marks === "same" ? { ...section, ...gateFields(previous ?? section) } : { ...section, ...marked(marks, section) };
  const unread = marks !== undefined && marks !== "same" && marks.unread !== "" && corrected.length === 0;
  return {
    gate: { ...gate, ...gateFields(Object.assign({}, ...corrected.map(({ says }) => says))) },
    ...(unread ? { fault: `${endpoint}: nobody has read "${marks.unread}"` } : {}),
  };
}

function gateFields(from: Partial<Statement>): Partial<Gate> {
  const names = ["kinds", "scopes", "permissions", "keyScopes", "mfa", "fullPartner"] as const;
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));
}

function marked(marks: Marks | undefined, section: Gate): Partial<Gate> {
  if (!marks) return {};
  const { unread: _, permissions, mfa, fullPartner, ...rest } = marks;
  // A mark of MFA alone leaves the permission to the section; a credential alone says that none is needed.
  if (permissions.length === 0 && !marks.kinds) return { ...rest, permissions: section.permissions, mfa: mfa || section.mfa };
  return { ...rest, permissions, mfa: mfa || (section.fullPartner && section.mfa), fullPartner: fullPartner || section.fullPartner };
}

function factsFor(segment: Segment, catalogues: Catalogues) {
  const facts = factsOf(segment.text, catalogues);
  if (!segment.mixed || !segment.endpoint.startsWith("GET ")) return facts;
  // The text speaks of writes too: what a read can answer of it is that there is no such row.
  return { errors: facts.errors.filter((code) => catalogues.errors[code]?.status === 404), audit: [], events: [] };
}

function finish(
  listed: Listed,
  said: Statement,
  audit: readonly string[],
  siblings: readonly Listed[],
  catalogues: Catalogues,
): Entry {
  const endpoint = keyOf(listed);
  const readings = [...sectionsFor(endpoint), ...correctedBy(endpoint)];
  const corrected: Statement = Object.assign({}, said, ...correctedBy(endpoint).map(({ says }) => says));
  const errors = new Set(said.errors);
  for (const { alsoErrors, notErrors } of readings) {
    for (const code of alsoErrors ?? []) errors.add(code);
    for (const code of notErrors ?? []) errors.delete(code);
  }
  const user = corrected.kinds.includes("user");
  const scopes = corrected.fullPartner ? corrected.scopes.filter((scope) => scope !== "organization") : corrected.scopes;
  return {
    method: listed.method,
    path: listed.path,
    noun: nounOf(endpoint).noun,
    from: listed.kind,
    ...corrected,
    scopes: user ? scopes : [],
    permissions: user ? corrected.permissions : [],
    errors: [...errors].toSorted(),
    audit: corrected.audit ?? (audit.length > 0 ? audit : derivedAudit(endpoint, siblings, catalogues)),
    events: corrected.events,
  };
}

/** Plain create, update and delete, and the verb that ends a path, are audited under the name of their resource. */
function derivedAudit(endpoint: string, siblings: readonly Listed[], catalogues: Catalogues): string[] | null {
  const [method, path] = endpoint.split(" ") as [string, string];
  if (method === "GET") return [];
  const { audit: stem } = nounOf(endpoint);
  const parts = path.split("/");
  const nested = parts.filter((part, index) => part.startsWith(":") && index < parts.length - 1).length > 0;
  const plain = { POST: "create", PUT: "update", PATCH: "update", DELETE: "delete" }[method];
  // What is created can be addressed afterwards.
  if (method === "POST" && !nested && !siblings.some((one) => one.path.startsWith(`${path}/:`))) return null;
  const verb = nested ? (method === "POST" ? parts.at(-1)?.replaceAll("-", "_") : undefined) : plain;
  const action = catalogues.auditActions.find((one) => one === `${stem}.${verb}`);
  return action ? [action] : null;
}

function quoteFaults({ texts, conventions }: Documents): string[] {
  const whole = [...texts.map(({ lines }) => lines.join("\n")), conventions.join("\n")].join("\n");
  return [...sections, ...corrections]
    .filter(({ quote }) => !whole.includes(quote))
    .map(({ of, quote }) => `${of.join(", ")}: the documents no longer say "${quote}"`);
}

function auditFaults(endpoints: readonly Entry[], { auditActions }: Catalogues): string[] {
  const used = new Set(endpoints.flatMap(({ audit }) => audit ?? []));
  return [
    ...endpoints
      .filter((entry) => entry.audit === null && !correctedBy(keyOf(entry)).some(({ says }) => "audit" in says))
      .map((entry) => `${keyOf(entry)}: no audit action is named`),
    ...auditActions
      .filter((action) => !used.has(action) && !writtenElsewhere.includes(action))
      .map((action) => `${action}: no endpoint writes it`),
    ...[...used].filter((action) => !auditActions.includes(action)).map((action) => `${action} is no audit action`),
  ];
}
