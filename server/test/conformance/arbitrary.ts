import fc from "fast-check";
import { alternatives, type JsonSchema } from "#contract/json-schema";

/** A part of a request in which exactly one field violates the published contract. */
export interface Wrong {
  /** `name: beyond its bounds`. */
  what: string;
  value: unknown;
}

type Fields = Record<string, unknown>;

/** Values that match the published schema; often those of `example`, whose ids exist. */
export function arbitraryOf(schema: JsonSchema, example?: unknown): fc.Arbitrary<unknown> {
  const made = fc.oneof(
    ...alternatives(schema)
      .flatMap(typed)
      .map((one) => single(one, example)),
  );
  return example === undefined || schema.properties !== undefined
    ? made
    : fc.oneof({ weight: 2, arbitrary: fc.constant(example) }, { weight: 1, arbitrary: made });
}

/** Values with one wrong field at any depth. */
export function oneFieldWrong(schema: JsonSchema, example: unknown): fc.Arbitrary<Wrong> {
  const good = arbitraryOf({ ...schema, required: Object.keys((example ?? {}) as Fields) }, example);
  return fc
    .tuple(good, fc.constantFrom(...faultsOf(schema, "")))
    .chain(([value, fault]) => fault.put.map((put) => ({ what: fault.what, value: put(value as Fields) })));
}

interface Fault {
  what: string;
  /** Inserts the fault into a valid value. */
  put: fc.Arbitrary<(good: Fields) => Fields>;
}

function faultsOf(schema: JsonSchema, path: string): Fault[] {
  const extra: Fault = {
    what: `${path || "body"}: an unknown field`,
    put: fc.constant((good) => ({ ...good, unheardOf: 1 })),
  };
  const missing = (schema.required ?? []).map(
    (name): Fault => ({
      what: `${path}${name}: missing`,
      put: fc.constant((good) => Object.fromEntries(Object.entries(good).filter(([key]) => key !== name))),
    }),
  );
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const options = alternatives(field).flatMap(typed);
    const wrong = wrongValues(options);
    const inside = options.filter(({ properties }) => properties !== undefined);
    return [
      ...Object.entries(wrong).map(
        ([kind, value]): Fault => ({
          what: `${path}${name}: ${kind}`,
          put: value.map((bad) => (good) => ({ ...good, [name]: bad })),
        }),
      ),
      ...inside.flatMap((object) =>
        faultsOf(object, `${path}${name}.`).map(
          ({ what, put }): Fault => ({
            what,
            put: fc.tuple(arbitraryOf(object), put).map(([value, change]) => (good) => ({
              ...good,
              [name]: change((good[name] ?? value) as Fields),
            })),
          }),
        ),
      ),
    ];
  });
  return [extra, ...missing, ...fields, ...ofAnyName(schema, path)];
}

/** In objects whose fields may have any name. */
function ofAnyName(schema: JsonSchema, path: string): Fault[] {
  const value = schema["additionalProperties"];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(wrongValues(alternatives(value as JsonSchema).flatMap(typed))).map(
    ([kind, wrong]): Fault => ({
      what: `${path}*: ${kind}`,
      put: wrong.map((bad) => (good) => ({ ...good, unheardOf: bad })),
    }),
  );
}

/** Values that no alternative of a field allows, by kind of fault. */
function wrongValues(options: readonly JsonSchema[]): Record<string, fc.Arbitrary<unknown>> {
  const allowed = new Set(options.map(({ type }) => type));
  const byType = [
    ["string", fc.constantFrom("x", "")],
    ["integer", fc.constantFrom(1, -7)],
    ["boolean", fc.boolean()],
    ["array", fc.constantFrom([], [1], [{}])],
    ["object", fc.constantFrom({}, { a: [] })],
    ["null", fc.constant(null)],
  ] as const;
  if (options.some(({ type, enum: values, ...rest }) => !type && !values && !("const" in rest))) return {};
  const others = byType.filter(
    ([type]) => !allowed.has(type) && !(type === "integer" && allowed.has("number")) && !literal(options, type),
  );
  const bounds = options.map(beyond).filter((value) => value !== undefined);
  const enums = options.some((option) => option.enum !== undefined || option["const"] !== undefined);
  return {
    ...(others.length > 0 ? { "of another type": fc.oneof(...others.map(([, value]) => value)) } : {}),
    ...(bounds.length > 0 ? { "beyond its bounds": fc.oneof(...bounds) } : {}),
    ...(enums ? { "an unknown word": fc.constantFrom("unheard-of", "") } : {}),
  };
}

const literal = (options: readonly JsonSchema[], type: string): boolean =>
  type === "string" && options.some((option) => option.enum !== undefined || "const" in option);

function beyond(schema: JsonSchema): fc.Arbitrary<unknown> | undefined {
  const number = (name: string) => (typeof schema[name] === "number" ? (schema[name] as number) : undefined);
  const tries: unknown[] = [];
  const [maxLength, minLength, maximum, minimum, maxItems] = [
    number("maxLength"),
    number("minLength"),
    number("maximum"),
    number("minimum"),
    number("maxItems"),
  ];
  if (maxLength !== undefined) tries.push(long(maxLength + 1));
  if (minLength !== undefined && minLength > 0) tries.push("");
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) tries.push(maximum + 1);
  if (minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER) tries.push(minimum - 1);
  if (maxItems !== undefined && maxItems <= 1_000) tries.push(Array.from({ length: maxItems + 1 }, () => ""));
  if (schema.type === "integer") tries.push(0.5);
  if (schema["pattern"] !== undefined || schema["format"] === "uuid") tries.push("***");
  if (schema["format"] === "date-time") tries.push("yesterday", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00.000Z");
  if (schema["format"] === "email") tries.push("nobody", "a@b", "a b@c.de");
  if (schema["format"] === "uri") tries.push("ftp://a.example", "http://a.example", "nowhere");
  if (schema.type === "array" && schema.items !== undefined)
    for (const value of Object.values(wrongValues(alternatives(schema.items).flatMap(typed))))
      tries.push(...fc.sample(value, { numRuns: 1, seed: 1 }).map((bad) => [bad]));
  return tries.length === 0 ? undefined : fc.constantFrom(...tries);
}

/** Limits count characters, not bytes; the value of a query must still fit into the head of a request. */
const long = (length: number): string => (length > 500 ? "x" : "é").repeat(length);

/** `type: ["string", "null"]` as two alternatives. */
const typed = (schema: JsonSchema): JsonSchema[] =>
  Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : [schema];

function single(schema: JsonSchema, example: unknown): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if ("const" in schema) return fc.constant(schema.const);
  if (schema.type === "null") return fc.constant(null);
  if (schema.type === "boolean") return fc.boolean();
  if (schema.type === "integer" || schema.type === "number") return numbers(schema);
  if (schema.type === "string") return strings(schema);
  if (schema.type === "array") return arrays(schema);
  if (schema.type === "object") return objects(schema, example);
  return fc.jsonValue({ maxDepth: 2 });
}

function numbers(schema: JsonSchema): fc.Arbitrary<number> {
  const min = Math.max((schema["minimum"] as number) ?? -1_000, -(2 ** 31));
  const max = Math.min((schema["maximum"] as number) ?? 1_000, 2 ** 31 - 1);
  const whole = fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max }));
  return schema.type === "integer" ? whole : fc.oneof(whole, fc.double({ min, max, noNaN: true }));
}

function strings(schema: JsonSchema): fc.Arbitrary<string> {
  const max = (schema["maxLength"] as number | undefined) ?? 40;
  const formats: Record<string, fc.Arbitrary<string>> = {
    uuid: fc.uuid(),
    email: fc.emailAddress({ size: "small" }).filter((text) => text.length <= max),
    uri: fc.webUrl({ validSchemes: ["https"] }),
    "date-time": fc
      .date({ min: new Date("2000-01-01"), max: new Date("2090-01-01"), noInvalidDate: true })
      .map((date) => date.toISOString()),
  };
  const format = formats[schema["format"] as string];
  if (format !== undefined) return format;
  if (typeof schema["pattern"] === "string") return fc.stringMatching(new RegExp(schema["pattern"]));
  const minLength = (schema["minLength"] as number | undefined) ?? 0;
  return fc.oneof(
    { weight: 4, arbitrary: fc.string({ unit: "grapheme-composite", minLength, maxLength: Math.min(max, 20) }) },
    { weight: 1, arbitrary: fc.constantFrom(long(Math.min(max, 5_000)), "株式会社", "%_\\'\"", "50%") },
    { weight: 1, arbitrary: fc.constantFrom("Europe/Paris", "09:30") },
  );
}

function arrays(schema: JsonSchema): fc.Arbitrary<unknown> {
  const maxLength = Math.min((schema["maxItems"] as number | undefined) ?? 3, 3);
  return fc.array(arbitraryOf(schema.items ?? {}), {
    minLength: Math.min((schema["minItems"] as number) ?? 0, 3),
    maxLength,
  });
}

function objects(schema: JsonSchema, example: unknown): fc.Arbitrary<unknown> {
  const { properties, additionalProperties } = schema as { properties?: Fields; additionalProperties?: unknown };
  if (properties === undefined) {
    const names = (schema["propertyNames"] as JsonSchema | undefined)?.enum as string[] | undefined;
    const value = typeof additionalProperties === "object" ? (additionalProperties as JsonSchema) : {};
    return fc.dictionary(names ? fc.constantFrom(...names) : fc.string({ maxLength: 8 }), arbitraryOf(value), {
      maxKeys: 3,
    });
  }
  const given = (example ?? {}) as Fields;
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, arbitraryOf(field as JsonSchema, given[name])]),
  );
  return fc.record(fields, { requiredKeys: (schema.required ?? []).filter((name) => name in fields) });
}
