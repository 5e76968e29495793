import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ColumnType, canonicalSpeller, contentNames, idAt, uuidOf } from "./copied-canonical.ts";

const int = (value: number, bytes: 2 | 4) => {
  const buffer = Buffer.alloc(bytes);
  if (bytes === 2) buffer.writeInt16BE(value);
  else buffer.writeInt32BE(value);
  return buffer;
};
const field = (value: Buffer | null) => (value === null ? int(-1, 4) : Buffer.concat([int(value.length, 4), value]));
const tupleOf = (fields: readonly (Buffer | null)[]) => Buffer.concat([int(fields.length, 2), ...fields.map(field)]);

const types: ColumnType[] = contentNames.map((name) => {
  if (name === "timestamp") return "timestamptz";
  return name === "id" || name.endsWith("_id") ? "uuid" : "text";
});
const moment = (ms: number, micros = 0) => {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64BE(BigInt(ms - Date.UTC(2000, 0, 1)) * 1_000n + BigInt(micros));
  return buffer;
};
type Values = [id: string, checksum: string | null, time: Buffer | null, ...rest: (string | null)[]];
const valuesOf = ([id, checksum, time, ...rest]: Values) => {
  const texts = [id, checksum, null, ...rest];
  return texts.map((value, column) => {
    if (column === 2) return time;
    if (value === null || value === undefined) return null;
    return types[column] === "uuid" ? Buffer.from(value.replaceAll("-", ""), "hex") : Buffer.from(value);
  });
};

const uuid = fc.uuid();
const nullable = fc.option(uuid, { nil: null });
const hash = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 64, maxLength: 64 });
const signs = [
  '"',
  "\\",
  "\t",
  "\n",
  "\\N",
  "\v",
  "\b\f\r",
  "\u0001",
  "\u001f",
  "\u007f",
  ",",
  "[",
  "é",
  "😀",
  "null",
  "a",
];
const text = fc.option(fc.string({ unit: fc.constantFrom(...signs), maxLength: 12 }), { nil: null });
const rest = fc.tuple(text, nullable, text, text, text, nullable, text, text, text, text, text, text);
/** From the first to the last year of four digits. */
const time = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });

describe("canonical bytes of a tuple of COPY", () => {
  const spell = canonicalSpeller(types);

  it("are those of its values as JSON", () =>
    fc.assert(
      fc.property(uuid, hash, time, nullable, nullable, rest, (id, checksum, ms, orgId, partnerId, others) => {
        const tuple = tupleOf(valuesOf([id, checksum, moment(ms), orgId, partnerId, ...others]));
        // Not at the begin, and not at the end of what was read.
        const data = Buffer.concat([tuple, tuple, tuple]);
        const spelled = spell(data, tuple.length, tuple.length * 2);
        expect(spelled?.canonical.toString()).toBe(
          JSON.stringify(["al1", id, orgId, partnerId, String(ms), ...others]),
        );
        expect([uuidOf(idAt(data, tuple.length)), spelled?.checksum]).toEqual([id, checksum]);
      }),
      { numRuns: 2_000 },
    ));

  const id = "0190c0de-0000-7000-8000-00000000000a";
  const ms = Date.parse("2026-11-30T10:00:00.500Z");
  const whole = (details: string | null, at: Buffer | null = moment(ms)) =>
    tupleOf(
      valuesOf([
        id,
        "0".repeat(64),
        at,
        null,
        null,
        "user",
        null,
        null,
        "a",
        null,
        null,
        null,
        details,
        null,
        null,
        "ok",
        null,
      ]),
    );

  it("grow with the tuple", () => {
    const tuple = whole("\u0001".repeat(200_000));
    const spelled = spell(tuple, 0, tuple.length)?.canonical.toString();
    expect(JSON.parse(spelled ?? "null")[12]).toBe("\u0001".repeat(200_000));
  });

  it("are none where the tuple is cut or has fewer columns", () => {
    const tuple = whole("x");
    expect(spell(tuple, 0, tuple.length - 1)).toBeUndefined();
    const short = tupleOf([Buffer.alloc(16)]);
    expect(spell(short, 0, short.length)).toBeUndefined();
  });

  it.each([
    ["is finer than a millisecond", moment(ms, 1)],
    ["is null", null],
    ["is endless", Buffer.from("7fffffffffffffff", "hex")],
    ["was endless", Buffer.from("8000000000000000", "hex")],
    ["has a year of five digits", moment(253_402_300_800_000)],
    ["has another length", Buffer.alloc(4)],
  ])("are no canonical text where the time %s", (_, at) => {
    const tuple = whole("x", at);
    expect(spell(tuple, 0, tuple.length)?.canonical.toString()).toContain('"NaN"');
  });

  it("take columns that were made texts as their texts, and no moment from them", () => {
    const tuple = tupleOf([id, "0".repeat(64), "2026-11-30 10:00:00.5+00", id].map((value) => Buffer.from(value)));
    const spelled = canonicalSpeller(["text", "text", "text", "text"])(tuple, 0, tuple.length);
    expect(spelled?.canonical.toString()).toBe(`["al1","${id}","${id}"]`);
    expect(uuidOf(idAt(tuple, 0))).toBe(id);
  });
});
