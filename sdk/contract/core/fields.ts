import { z } from "zod";
import { invisibleIn, isVisible, withoutInvisible } from "./characters.ts";
import { canonicalEmail } from "./email.ts";
import type { RefName } from "./generated/refs.ts";
import { isTimeZone, zonesLike } from "./time-zone.ts";

/** What the generators and the server read beside the schema itself. */
export interface FieldMeta {
  /** Kept out of logs, audit details, error bodies, `inspect`, argv and shell history. */
  secret?: boolean;
  /** The JSON Schema to publish where the schema transforms its input. */
  published?: Record<string, unknown>;
  /** The kind of row that an id names. */
  ref?: RefName;
  /** Name of the component that a shared shape is in OpenAPI. */
  component?: string;
  /** What the field is, for people: every field of a query or body says it. */
  description?: string;
  /** A value that is accepted, for documents and the command's help. */
  example?: unknown;
}

/** What must never be seen twice: keys, tokens, passwords, codes. A string unless another schema is given. */
export function secret(): z.ZodString;
export function secret<S extends z.ZodType>(schema: S): S;
export function secret(schema: z.ZodType = z.string()): z.ZodType {
  return schema.meta({ secret: true } satisfies FieldMeta);
}

const uuid = () =>
  z
    .string()
    .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, "must be a uuid")
    .transform((value) => value.toLowerCase());

/** uuid of any version that names no row of the product, or one of several kinds. */
export const id = () => uuid().meta({ published: { type: "string", format: "uuid" } } satisfies FieldMeta);

/**
 * uuid of a row of this kind: the command accepts names in its place, and the tenancy sweep tries ids of another
 * tenant.
 */
export const ref = (name: RefName) =>
  uuid().meta({ ref: name, published: { type: "string", format: "uuid", "x-ref": name } } satisfies FieldMeta);

export const idParams = (names: readonly string[], refs: Readonly<Record<string, RefName | "opaque">>) =>
  z.object(Object.fromEntries(names.map((name) => [name, named(refs[name])])));

const named = (kind: RefName | "opaque" | undefined) => (kind === undefined || kind === "opaque" ? id() : ref(kind));

/** Unicode text of 1..max characters once trimmed, all of which can be seen (docs/conventions.md, "Text"). */
export const text = (max: number, min = 1) => visible(z.string().trim(), max, min);

/**
 * Text in a report of a machine: what shows nothing becomes U+FFFD, what is too long is cut (docs/conventions.md,
 * "Text").
 */
export const reported = (max: number) =>
  visible(z.string().transform(withoutInvisible).transform(cutTo(max)), max, 1).meta({
    published: { type: "string", minLength: 1 },
  } satisfies FieldMeta);

const cutTo = (max: number) => (value: string) => [...value.trim().normalize("NFC")].slice(0, max).join("");

const visible = (given: z.ZodType<string, string>, max: number, min: number) =>
  given
    .transform((value) => value.trim())
    .transform((value) => value.normalize("NFC"))
    .refine(
      (value) => [...value].length >= min,
      min === 1 ? "must not be blank" : `must have at least ${min} characters`,
    )
    .refine((value) => [...value].length <= max, `must have at most ${max} characters`)
    .refine(isWellFormed, "must be well-formed text")
    .refine(isVisible, hidden)
    .meta({ published: { type: "string", minLength: min, maxLength: max } } satisfies FieldMeta);

/** Text that is kept exactly as it was sent. */
export const storableText = (max: number) =>
  z
    .string()
    .refine((value) => [...value].length <= max, `must have at most ${max} characters`)
    .refine(isWellFormed, "must be well-formed text")
    .refine(isVisible, hidden)
    .meta({ published: { type: "string", maxLength: max } } satisfies FieldMeta);

/** NUL cannot be stored by Postgres. */
const isWellFormed = (value: string) => !value.includes("\u0000") && value.isWellFormed();

const hidden = {
  error: ({ input }: { input?: unknown }) => `must not hold ${invisibleIn(String(input))}, which nobody can see`,
};

/** Email address in its one form (docs/conventions.md, "One spelling"). */
export const email = (max = 255) =>
  z
    .string()
    .overwrite((value) => canonicalEmail(value) ?? value)
    .max(max)
    .refine((value) => canonicalEmail(value) === value, "must be an email address")
    .meta({ published: { type: "string", format: "email", maxLength: max } } satisfies FieldMeta);

/** Text that may be absent: null and blank both read as null. */
export const blankable = (max: number) => blankableAs((value) => value, max);

/** The same in a report of a machine. */
export const reportedOrBlank = (max: number) =>
  blankableAs((value) => cutTo(max)(withoutInvisible(value)), max).meta({
    published: { type: ["string", "null"] },
  } satisfies FieldMeta);

const blankableAs = (read: (value: string) => string, max: number) =>
  z
    .string()
    .nullable()
    .transform((value) => (value === null ? null : read(value).trim().normalize("NFC") || null))
    .refine((value) => [...(value ?? "")].length <= max, `must have at most ${max} characters`)
    .refine((value) => isWellFormed(value ?? ""), "must be well-formed text")
    .refine((value) => isVisible(value ?? ""), hidden)
    .meta({ published: { type: ["string", "null"], maxLength: max } } satisfies FieldMeta);

/** Email address that may be absent: null and blank both read as null. */
export const blankableEmail = (max = 255) =>
  z
    .string()
    .nullable()
    .transform((value) => (value?.trim() ? (canonicalEmail(value) ?? "") : null))
    .refine((value) => value === null || (value !== "" && value.length <= max), "must be an email address")
    .meta({ published: { type: ["string", "null"], format: "email", maxLength: max } } satisfies FieldMeta);

/** Absolute http or https address, as it was written. */
export const webAddress = (max = 2048) =>
  z
    .string()
    .trim()
    .max(max)
    .refine((value) => /^https?:\/\/[^\s\u0000-\u001f]+$/i.test(value) && URL.canParse(value), "must be a web address")
    .refine(isVisible, hidden)
    .meta({ published: { type: "string", format: "uri", maxLength: max } } satisfies FieldMeta);

/** Instant in any offset, read to ISO-8601 UTC with milliseconds. */
export const timestamp = () =>
  z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/, "must be an ISO-8601 date and time")
    .refine((value) => !Number.isNaN(Date.parse(value)), "must be a valid date and time")
    .transform((value) => new Date(value).toISOString())
    .refine(isStorable, "must lie in the years 1 to 9999")
    .meta({ published: { type: "string", format: "date-time" } } satisfies FieldMeta);

/** Postgres knows no year 0, and an offset can push the last day of 9999 into a fifth digit. */
const isStorable = (iso: string) => /^(?!0000)\d{4}-/.test(iso);

const dayOnly = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

/**
 * Bound of a range: an instant, or a day. `from` reads a day as its first millisecond, `to` as its last
 * (docs/conventions.md, "Times and date ranges"). A time without an offset is UTC, wherever the server runs.
 */
export const bound = (side: "from" | "to") =>
  z
    .string()
    .refine((value) => dayOnly.test(value) || /^\d{4}-\d{2}-\d{2}T/.test(value), "must be a date or a date and time")
    .transform((value) => (/T.* \d{2}:?\d{2}$/.test(value) ? value.replace(/ (\d{2}:?\d{2})$/, "+$1") : value))
    .transform((value) => (dayOnly.test(value) || /(Z|[+-]\d{2}:?\d{2})$/i.test(value) ? value : `${value}Z`))
    .refine((value) => !Number.isNaN(Date.parse(value)) && isRealDay(value), "must be a valid date")
    .transform((value) => {
      const ms = Date.parse(value);
      return new Date(side === "to" && dayOnly.test(value) ? ms + DAY_MS - 1 : ms).toISOString();
    })
    .refine(isStorable, "must lie in the years 1 to 9999")
    .meta({ published: { type: "string", format: "date-time" } } satisfies FieldMeta);

/** Refuses 2026-02-30, which Date.parse would move to March. */
function isRealDay(value: string): boolean {
  const day = value.slice(0, 10);
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

/** What the server prints: ISO-8601 UTC with milliseconds and `Z`. */
export const instant = () =>
  z.string().meta({ published: { type: "string", format: "date-time" } } satisfies FieldMeta);

/** Name of the row that the id beside it names. Only lists return it. */
export const listedName = () => z.string().nullable().optional().describe("lists only");

export const timezone = () =>
  z
    .string()
    .max(50)
    .refine(isTimeZone, {
      error: ({ input }) => `must be an IANA time zone${typeof input === "string" ? zonesLike(input) : ""}`,
    })
    .meta({ published: { type: "string", maxLength: 50 } } satisfies FieldMeta);

/** Free JSON object of at most `maxBytes` serialized. */
export const freeObject = (maxBytes = 16 * 1024) =>
  z
    .record(z.string(), z.unknown())
    .refine((value) => byteLength(JSON.stringify(value)) <= maxBytes, `must be at most ${maxBytes} bytes`)
    .refine((value) => !unstorableEscape.test(JSON.stringify(value)), "must be well-formed text")
    .meta({ published: { type: "object", additionalProperties: true } } satisfies FieldMeta);

/**
 * Free JSON object with some keys that the product reads: those are typed, null or absent where nothing is set, and the
 * others are kept as they are (docs/conventions.md, "Free objects").
 */
export const openObject = <S extends z.ZodRawShape>(known: S, maxBytes = 16 * 1024) =>
  z
    .looseObject(known)
    .refine((value) => byteLength(JSON.stringify(value)) <= maxBytes, `must be at most ${maxBytes} bytes`)
    .refine((value) => !unstorableEscape.test(JSON.stringify(value)), "must be well-formed text");

/** NUL or half a surrogate pair, which Postgres refuses in JSON; an escaped backslash before it is plain text. */
const unstorableEscape = /(?:^|[^\\])(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/;

const byteLength = (value: string) => new TextEncoder().encode(value).length;

/** `true`/`false` in a query string. */
export const flag = () =>
  z
    .enum(["true", "false"])
    .transform((value) => value === "true")
    .meta({ published: { type: "boolean" } } satisfies FieldMeta);

/** Comma-separated uuids of rows of one kind, in a query string; `x-ref` without a format tells it from one id. */
export const refList = (name: RefName) =>
  z
    .string()
    .transform((value) =>
      value
        .split(",")
        .map((part) => part.trim())
        .filter(Boolean),
    )
    .pipe(z.array(ref(name)))
    .meta({
      ref: name,
      published: { type: "string", "x-ref": name, description: "comma-separated uuids" },
    } satisfies FieldMeta);

/** Case-folded substring search text. */
export const searchText = (max = 255) =>
  z
    .string()
    .trim()
    .max(max)
    .refine((value) => !value.includes("\u0000"), "must be well-formed text")
    .meta({ published: { type: "string", maxLength: max } } satisfies FieldMeta);

export const slug = () =>
  z
    .string()
    .transform((value) => value.toLowerCase())
    .refine(
      (value) => /^[a-z0-9][a-z0-9_-]{0,99}$/.test(value),
      "must be 1 to 100 of a-z, 0-9, - and _, and start with a letter or digit",
    )
    .meta({
      published: { type: "string", maxLength: 100, pattern: "^[a-zA-Z0-9][a-zA-Z0-9_-]{0,99}$" },
    } satisfies FieldMeta);

/** The answer to a delete (docs/conventions.md, "Bodies and updates"). */
export const success = () => z.object({ success: z.literal(true) });

/** An optional field of a device's report: a malformed value reads as absent (docs/fleet.md, "Agent leniency"). */
export const lenient = <S extends z.ZodType>(schema: S) =>
  schema.optional().catch(undefined as never) as unknown as z.ZodOptional<S>;

/**
 * A list in a device's report: malformed items are left out, the rest is cut at `max`
 * (docs/fleet.md, "Agent leniency").
 */
export const lenientList = <S extends z.ZodType>(item: S, max: number) =>
  z.preprocess(
    (value) =>
      Array.isArray(value) ? value.filter((entry) => item.safeParse(entry).success).slice(0, max) : undefined,
    z.array(item).max(max).optional(),
  ) as unknown as z.ZodOptional<z.ZodArray<S>>;
