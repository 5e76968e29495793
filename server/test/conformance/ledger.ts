import { createHash } from "node:crypto";
import type { z } from "zod";
import type { AnyEndpoint } from "#contract/core/endpoint";
import { jsonSchemaOf, secretPaths } from "#contract/json-schema";
import type { Answer } from "../harness.ts";

/** Shorter secrets (a code of six digits) occur in texts by chance. */
const MIN_LENGTH = 10;

/**
 * Every secret that the product received or returned in one run, and everything it showed since. What the
 * contract marks as secret in an answer is taken into the ledger and out of what counts as shown.
 */
export class SecretLedger {
  readonly #secrets = new Map<string, string>();
  readonly #shown: { where: string; text: string }[] = [];

  get size(): number {
    return this.#secrets.size;
  }

  add(name: string, secret: unknown): void {
    if (Array.isArray(secret)) for (const one of secret) this.add(name, one);
    else if (typeof secret === "string" && secret.length >= MIN_LENGTH) this.#secrets.set(secret, name);
  }

  /** Records a request: its secret fields and credentials. */
  sent(endpoint: AnyEndpoint, body: unknown, headers: Readonly<Record<string, string | undefined>>): void {
    const name = `${endpoint.noun}.${endpoint.verb}`;
    for (const path of markedIn(endpoint.schemas().body)) this.add(`${name} body ${path}`, taken(body, path)[0]);
    for (const [header, value] of Object.entries(headers))
      this.add(`${name} header ${header}`, value?.replace(/^Bearer /, ""));
  }

  /** Records an answer: a success may show its secret fields this once. */
  received(endpoint: AnyEndpoint, answer: Answer): void {
    const name = `${endpoint.noun}.${endpoint.verb}`;
    let { body } = answer;
    if (answer.status < 300) {
      for (const path of markedIn(endpoint.schemas().result)) {
        const [secret, rest] = taken(body, path);
        this.add(`${name} result ${path}`, secret);
        body = rest;
      }
    }
    this.show(`answer ${answer.status} of ${name}`, JSON.stringify([body, [...answer.headers]]));
  }

  show(where: string, text: string): void {
    this.#shown.push({ where, text });
  }

  /** Places where a secret, or its unsalted hash, was shown. */
  leaksShown(): string[] {
    const hash = (secret: string) => createHash("sha256").update(secret).digest("hex");
    const hashes = [...this.#secrets].map(([secret, name]) => [hash(secret), `SHA-256 of ${name}`] as const);
    const search = searchFor([...this.#secrets, ...hashes]);
    return this.#shown.flatMap(({ where, text }) => search(text).map((name) => `${name} in ${where}`));
  }

  /** Secrets that these texts contain in the clear; hashes are ignored, since the database stores them. */
  leaksIn(texts: readonly (readonly [where: string, text: string])[]): string[] {
    const search = searchFor([...this.#secrets]);
    return texts.flatMap(([where, text]) => search(text).map((name) => `${name} in ${where}`));
  }
}

/** Finds thousands of needles in one pass, through an index of their first characters. */
function searchFor(named: readonly (readonly [needle: string, name: string])[]): (text: string) => string[] {
  const needles = named.flatMap(([needle, name]) =>
    [...new Set([needle, escaped(needle)])].map((text) => ({ text, name })),
  );
  const byStart = groupedByStart(needles);
  // Most positions need no look into the index, since no needle begins with these characters.
  const begins = new Uint8Array(65_536);
  for (const { text } of needles) begins[startOf(text, 0)] = 1;
  return (text) => {
    const found = new Set<string>();
    for (let at = 0; at + MIN_LENGTH <= text.length; at += 1) {
      if (begins[startOf(text, at)] === 0) continue;
      for (const needle of byStart.get(text.slice(at, at + MIN_LENGTH)) ?? [])
        if (text.startsWith(needle.text, at)) found.add(needle.name);
    }
    return [...found];
  };
}

/** Hash of three characters; collisions are possible. */
const startOf = (text: string, at: number): number =>
  (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2) * 7_919) & 65_535;

function groupedByStart<N extends { text: string }>(needles: readonly N[]): Map<string, N[]> {
  const groups = new Map<string, N[]>();
  for (const needle of needles) {
    const start = needle.text.slice(0, MIN_LENGTH);
    const group = groups.get(start);
    if (group) group.push(needle);
    else groups.set(start, [needle]);
  }
  return groups;
}

/** The text as escaped inside JSON. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

const marked = { input: new WeakMap<z.ZodType, string[]>(), output: new WeakMap<z.ZodType, string[]>() };

/** Paths of the secret fields, cached by schema. */
export function markedIn(schema: z.ZodType | undefined, io: "input" | "output" = "output"): string[] {
  if (schema === undefined) return [];
  const known = marked[io].get(schema) ?? secretPaths(jsonSchemaOf(schema, io));
  marked[io].set(schema, known);
  return known;
}

/** The value at `user.token`, and the same object without it. */
function taken(value: unknown, path: string): [unknown, unknown] {
  const [first, ...rest] = path.split(".") as [string, ...string[]];
  const name = first.replace(/\[\]$/, "");
  if (value === null || typeof value !== "object" || !(name in value)) return [undefined, value];
  const { [name]: field, ...others } = value as Record<string, unknown>;
  if (rest.length === 0) return [field, others];
  const below = rest.join(".");
  if (!Array.isArray(field)) {
    const [secret, left] = taken(field, below);
    return [secret, { ...others, [name]: left }];
  }
  const parts = field.map((item) => taken(item, below));
  return [parts.map(([secret]) => secret), { ...others, [name]: parts.map(([, left]) => left) }];
}
