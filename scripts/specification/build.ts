import { type Catalogues, cataloguesOf } from "./catalogues.ts";
import { type Documents, keyOf, type Listed } from "./documents.ts";
import { type Facts, factsOf } from "./facts.ts";
import { blank, correctionsFor, gatesOf, sectionsFor, speaksOf, together } from "./gates.ts";
import { nounFaults, nounOf } from "./nouns.ts";
import { readings } from "./readings/all.ts";
import { writtenElsewhere } from "./readings/elsewhere.ts";
import type { Statement } from "./readings/reading.ts";
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

/** Puts the lists, the marks, the tables and the readings together. */
export function build(documents: Documents): Built {
  const catalogues = cataloguesOf(documents.texts);
  const segments = segmentsOf(documents.texts, documents.endpoints);
  const { gates, faults } = gatesOf(segments);
  const defined = new Map(segments.map((segment) => [segment.endpoint, segment]));
  const tabled = new Map([...exportsOf(documents.texts), ...liveToolsOf(documents.texts)]);
  const endpoints = documents.endpoints.map((listed) => {
    const endpoint = keyOf(listed);
    const table = tabled.get(endpoint) ?? {};
    const said = { ...blank, ...together(sectionsFor(endpoint)), ...gates.get(endpoint), ...table };
    const facts = factsFor(defined.get(endpoint), catalogues);
    const action = said.audit ?? (facts.audit.length > 0 ? facts.audit : derivedAudit(endpoint, documents, catalogues));
    return finish(listed, { ...said, errors: facts.errors, events: facts.events, audit: action });
  });
  return {
    catalogues,
    endpoints,
    faults: [
      ...faults,
      ...nounFaults(documents.conventions, documents.endpoints),
      ...readingFaults(documents, catalogues),
      ...definitionFaults(documents, segments, tabled),
      ...auditFaults(endpoints, catalogues),
      ...specificationFaults(documents.texts, endpoints),
    ],
  };
}

function factsFor(segment: Segment | undefined, catalogues: Catalogues): Facts {
  if (!segment) return { errors: [], audit: [], events: [] };
  const facts = factsOf(segment.text, catalogues);
  if (!segment.mixed || !segment.endpoint.startsWith("GET ")) return facts;
  // The text speaks of writes too: what a read can answer of it is that there is no such row.
  return { errors: facts.errors.filter((code) => catalogues.errors[code]?.status === 404), audit: [], events: [] };
}

function finish(listed: Listed, said: Statement): Entry {
  const endpoint = keyOf(listed);
  const corrections = correctionsFor(endpoint);
  const corrected: Statement = { ...said, ...together(corrections) };
  const errors = new Set(said.errors);
  for (const { alsoErrors, notErrors } of [...sectionsFor(endpoint), ...corrections]) {
    for (const code of alsoErrors) errors.add(code);
    for (const code of notErrors) errors.delete(code);
  }
  const user = corrected.kinds.includes("user");
  return {
    method: listed.method,
    path: listed.path,
    noun: nounOf(endpoint).noun,
    from: listed.kind,
    ...corrected,
    // Full partner access is had above the organization alone; scopes and permissions are a person's.
    scopes: user ? corrected.scopes.filter((scope) => !corrected.fullPartner || scope !== "organization") : [],
    permissions: user ? corrected.permissions : [],
    errors: [...errors].toSorted(),
  };
}

/** Plain create, update and delete, and the verb that ends a path, are audited under the name of their resource. */
function derivedAudit(endpoint: string, { endpoints }: Documents, { auditActions }: Catalogues): string[] | null {
  const [method, path] = endpoint.split(" ") as [string, string];
  if (method === "GET") return [];
  const parts = path.split("/");
  const nested = parts.slice(0, -1).some((part) => part.startsWith(":"));
  // What is created can be addressed afterwards.
  if (method === "POST" && !nested && !endpoints.some((one) => one.path.startsWith(`${path}/:`))) return null;
  const plain = { POST: "create", PUT: "update", PATCH: "update", DELETE: "delete" }[method];
  const verb = nested ? (method === "POST" ? parts.at(-1)?.replaceAll("-", "_") : undefined) : plain;
  const action = `${nounOf(endpoint).audit}.${verb}`;
  return auditActions.includes(action) ? [action] : null;
}

/** A reading that has lost its text, its endpoints or a code that it names. */
function readingFaults({ texts, endpoints }: Documents, { errors, eventKinds }: Catalogues): string[] {
  const whole = texts.map(({ lines }) => lines.join("\n")).join("\n");
  return [...readings.sections, ...readings.corrections].flatMap((reading) => {
    const { of, quote, alsoErrors, notErrors, says } = reading;
    const idle = of.filter((one) => !endpoints.some((listed) => speaksOf({ ...reading, of: [one] }, keyOf(listed))));
    const codes = [...alsoErrors, ...notErrors].filter((code) => !errors[code]);
    const kinds = (says.events ?? []).filter((kind) => !eventKinds.includes(kind));
    return [
      ...(whole.includes(quote) ? [] : [`${of.join(", ")}: the documents no longer say "${quote}"`]),
      ...idle.map((one) => `there is no ${one}`),
      ...[...codes, ...kinds].map((name) => `${of.join(", ")}: there is no ${name}`),
    ];
  });
}

function definitionFaults(
  { endpoints }: Documents,
  segments: readonly Segment[],
  tabled: ReadonlyMap<string, unknown>,
) {
  const names = segments.map(({ endpoint }) => endpoint);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  const nowhere = endpoints
    .map(keyOf)
    .filter((name) => !names.includes(name) && !tabled.has(name) && correctionsFor(name).length === 0);
  return [...twice.map((name) => `${name} is defined twice`), ...nowhere.map((name) => `${name} is defined nowhere`)];
}

function auditFaults(endpoints: readonly Entry[], { auditActions }: Catalogues): string[] {
  const used = new Set(endpoints.flatMap(({ audit }) => audit ?? []));
  const unsaid = endpoints.filter(
    (entry) => entry.audit === null && !correctionsFor(keyOf(entry)).some(({ says }) => says.audit === null),
  );
  const unwritten = auditActions.filter((action) => !used.has(action) && !writtenElsewhere.includes(action));
  return [
    ...unsaid.map((entry) => `${keyOf(entry)}: no audit action is named`),
    ...unwritten.map((action) => `${action}: no endpoint writes it`),
    ...[...used].filter((action) => !auditActions.includes(action)).map((action) => `${action} is no audit action`),
  ];
}
