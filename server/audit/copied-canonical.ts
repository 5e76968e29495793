import { int32At } from "./postgres-copy.ts";

const [QUOTE, COMMA, DASH, BACKSLASH, BRACKET] = [34, 44, 45, 92, 93] as const;
const NULL = Buffer.from("null");
const BEGIN = '["al1"';
const UUID_BYTES = 16;

/** Of columns, in the order of `contentNames`; what is of another type is not read, as its text may be anything. */
export type ColumnType = "uuid" | "timestamptz" | "text" | "other";

/** What a canonical text begins with, after the id: the checksum is not part of it, and the time has a later place. */
export const contentNames = [
  ...["id", "checksum", "timestamp", "org_id", "partner_id", "actor_type", "actor_id", "actor_email", "action"],
  ...[
    "resource_type",
    "resource_id",
    "resource_name",
    "details",
    "ip_address",
    "user_agent",
    "result",
    "error_message",
  ],
];
const [CHECKSUM, TIMESTAMP, AFTER_OWNERS] = [1, 2, 5];

/** The id of a tuple that begins with one, in hex without dashes. */
export const idAt = (data: Buffer, at: number): string => {
  const length = int32At(data, at + 2);
  const from = at + 6;
  if (length === UUID_BYTES) return data.toString("hex", from, from + length);
  return data.toString("latin1", from, from + Math.max(0, length)).replaceAll("-", "");
};

/** Dashed, as everybody writes it. */
export const uuidOf = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;

export interface Spelled {
  /** Overwritten by the next one. */
  readonly canonical: Buffer;
  readonly checksum: string | null;
}

/**
 * Spells the canonical bytes of tuples by going over them once, a quarter of what reading texts and writing these as JSON
 * costs; undefined where a tuple is not whole, or a column of another type.
 */
export function canonicalSpeller(
  types: readonly ColumnType[],
): (data: Buffer, at: number, end: number) => Spelled | undefined {
  if (types.includes("other")) return () => undefined;
  let out = roomFor(2 ** 16);
  return (data, at, end) => {
    if (out.length < (end - at) * ESCAPED_MAX + FRAME) out = roomFor((end - at) * ESCAPED_MAX + FRAME);
    let from = at + 2;
    let to = BEGIN.length;
    let checksum: string | null = null;
    let ms = Number.NaN;
    for (let column = 0; column < types.length; column += 1) {
      if (from + 4 > end) return undefined;
      const length = int32At(data, from);
      from += 4;
      if (from + length > end) return undefined;
      if (column === CHECKSUM) checksum = length < 0 ? null : data.toString("latin1", from, from + length);
      else if (column === TIMESTAMP) {
        if (types[column] === "timestamptz" && length === 8) ms = millisecondsAt(data, from);
      } else {
        if (column === AFTER_OWNERS) to = spellNumber(ms, out, to);
        out[to++] = COMMA;
        if (length < 0) for (let index = 0; index < NULL.length; index += 1) out[to++] = NULL[index] as number;
        else if (types[column] === "uuid" && length === UUID_BYTES) to = spellUuid(data, from, out, to);
        else to = spellText(data, from, from + length, out, to);
      }
      if (length > 0) from += length;
    }
    out[to++] = BRACKET;
    return { canonical: out.subarray(0, to), checksum };
  };
}

/** A sign of one byte becomes six at most, a uuid of 16 bytes 38. */
const ESCAPED_MAX = 6;
const FRAME = 200;

function roomFor(bytes: number): Buffer {
  const room = Buffer.alloc(bytes);
  room.write(BEGIN, "latin1");
  return room;
}

const [HIGH, LOW] = [0, 1].map((digit) =>
  Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0").charCodeAt(digit)),
) as [Uint8Array, Uint8Array];

function spellNumber(value: number, out: Uint8Array, start: number): number {
  const text = `,"${value}"`;
  for (let index = 0; index < text.length; index += 1) out[start + index] = text.charCodeAt(index);
  return start + text.length;
}

function spellUuid(data: Uint8Array, from: number, out: Uint8Array, start: number): number {
  let to = start;
  out[to++] = QUOTE;
  for (let index = 0; index < UUID_BYTES; index += 1) {
    if (index === 4 || index === 6 || index === 8 || index === 10) out[to++] = DASH;
    const byte = data[from + index] as number;
    out[to++] = HIGH[byte] as number;
    out[to++] = LOW[byte] as number;
  }
  out[to++] = QUOTE;
  return to;
}

/** What follows a backslash in JSON; 0 = the byte stands for itself. */
const ESCAPES = new Uint8Array(256).fill("u".charCodeAt(0), 0, 32);
for (const [sign, letter] of ['""', "\\\\", "\bb", "\tt", "\nn", "\ff", "\rr"].map(
  (pair) => [...pair] as [string, string],
))
  ESCAPES[sign.charCodeAt(0)] = letter.charCodeAt(0);
const LETTER_U = "u".charCodeAt(0);
const ZERO = "0".charCodeAt(0);

function spellText(data: Uint8Array, begin: number, end: number, out: Uint8Array, start: number): number {
  let to = start;
  out[to++] = QUOTE;
  for (let from = begin; from < end; from += 1) {
    const byte = data[from] as number;
    const letter = byte > QUOTE && byte !== BACKSLASH ? 0 : (ESCAPES[byte] as number);
    if (letter === 0) out[to++] = byte;
    else {
      out[to++] = BACKSLASH;
      out[to++] = letter;
      if (letter !== LETTER_U) continue;
      out[to++] = ZERO;
      out[to++] = ZERO;
      out[to++] = HIGH[byte] as number;
      out[to++] = LOW[byte] as number;
    }
  }
  out[to++] = QUOTE;
  return to;
}

/** From 1970 to 2000. */
const EPOCH_MS = 946_684_800_000;
/** Four digits of a year. */
const [FIRST_MS, LAST_MS] = [-62_135_596_800_000, 253_402_300_800_000 - 1];

/** NaN for anything finer than a millisecond, and for what no ISO-8601 text of four digits a year says. */
function millisecondsAt(data: Buffer, at: number): number {
  // Exact for every year of four digits but for the last bits of far ones, so these are read once more.
  const micros = int32At(data, at) * 2 ** 32 + data.readUInt32BE(at + 4);
  const whole = Number.isSafeInteger(micros) ? micros % 1_000 === 0 : data.readBigInt64BE(at) % 1_000n === 0n;
  const ms = Math.round(micros / 1_000) + EPOCH_MS;
  return whole && ms >= FIRST_MS && ms <= LAST_MS ? ms : Number.NaN;
}
