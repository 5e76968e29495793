import { pgTimestampMs } from "./postgres-copy.ts";

const [TAB, NEWLINE, QUOTE, COMMA, BACKSLASH, LETTER_N, BRACKET] = [9, 10, 34, 44, 92, 78, 93] as const;
const NULL = Buffer.from("null");
const BEGIN = '["al1","';
const UUID = 36;
const SHA256_HEX = 64;
/** What is more than twice as long as the line: the first columns, and brackets. */
const FRAME = 100;

/** Where the fields of a line end that come first: `id`, `checksum`, `timestamp`, `org_id`, `partner_id`. */
const CHECKSUM_FROM = UUID + 1;
const CHECKSUM_TO = CHECKSUM_FROM + SHA256_HEX;

/** The id and the checksum at the begin of a line; a checksum of another length is not read. */
export const idAt = (lines: Buffer, at: number): string => lines.toString("latin1", at, at + UUID);
export const checksumAt = (lines: Buffer, at: number): string =>
  lines.toString("latin1", at + CHECKSUM_FROM, at + CHECKSUM_TO);

/**
 * Spells the canonical bytes of lines of `COPY` by going over them once: its text format is that of JSON but for tabs,
 * quotes and nulls. That costs half of reading fields as texts and writing these as JSON. The answer is what the next one
 * writes over; undefined where the first columns are not as the server writes them.
 *
 * Control characters without a name, which JSON spells otherwise, are copied as they are. No canonical text has them, so
 * these bytes have no hash that was ever sealed: where hashes differ, the line must be spelled from its fields.
 */
export function canonicalSpeller(): (lines: Buffer, at: number, end: number) => Buffer | undefined {
  let out = roomFor(2 ** 16);
  return (lines, at, end) => {
    const stampFrom = at + CHECKSUM_TO + 1;
    if (lines[at + UUID] !== TAB || lines[stampFrom - 1] !== TAB) return undefined;
    const stampTo = lines.indexOf(TAB, stampFrom);
    const orgTo = afterUuid(lines, stampTo + 1);
    const partnerTo = afterUuid(lines, orgTo + 1);
    if (stampTo < 0 || stampTo >= end || lines[orgTo] !== TAB || lines[partnerTo] !== TAB) return undefined;
    const ms = pgTimestampMs(lines.toString("latin1", stampFrom, stampTo));
    if (out.length < (end - at) * 2 + FRAME) out = roomFor((end - at) * 4 + FRAME);
    let to = BEGIN.length;
    for (let from = at; from < at + UUID; from += 1) out[to++] = lines[from] as number;
    out[to++] = QUOTE;
    to = spellFields(lines, stampTo, partnerTo, out, to);
    to += out.write(`,"${ms}"`, to, "latin1");
    to = spellFields(lines, partnerTo, end, out, to);
    out[to++] = BRACKET;
    return out.subarray(0, to);
  };
}

function roomFor(bytes: number): Buffer {
  const room = Buffer.alloc(bytes);
  room.write(BEGIN, "latin1");
  return room;
}

/** Where a uuid or a null ends. */
const afterUuid = (lines: Buffer, from: number): number => from + (lines[from] === BACKSLASH ? 2 : UUID);

/** Fields that each begin with a tab. */
function spellFields(lines: Buffer, begin: number, end: number, out: Buffer, start: number): number {
  let [from, to, isOpen] = [begin, start, false];
  while (from < end) {
    const byte = lines[from++] as number;
    if (byte === TAB) {
      if (isOpen) out[to++] = QUOTE;
      out[to++] = COMMA;
      isOpen = !(lines[from] === BACKSLASH && lines[from + 1] === LETTER_N && isEnd(lines[from + 2]));
      if (isOpen) out[to++] = QUOTE;
      else {
        for (let at = 0; at < NULL.length; at += 1) out[to++] = NULL[at] as number;
        from += 2;
      }
    } else {
      if (byte === QUOTE) out[to++] = BACKSLASH;
      out[to++] = byte;
    }
  }
  if (isOpen) out[to++] = QUOTE;
  return to;
}

const isEnd = (byte: number | undefined): boolean => byte === TAB || byte === NEWLINE;
