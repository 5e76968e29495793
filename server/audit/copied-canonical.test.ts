import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalSpeller, checksumAt, idAt } from "./copied-canonical.ts";
import { copyFields } from "./postgres-copy.ts";

const names: Record<string, string> = { "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v", "\\": "\\" };
const copied = (field: string | null) =>
  field === null ? "\\N" : field.replace(/[\b\f\n\r\t\v\\]/g, (sign) => `\\${names[sign]}`);
const lineOf = (fields: readonly (string | null)[]) => Buffer.from(`${fields.map(copied).join("\t")}\n`);

const uuid = fc.uuid();
const nullable = fc.option(uuid, { nil: null });
const hash = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 64, maxLength: 64 });
const signs = ['"', "\\", "\t", "\n", "\\N", "\v", "\u0001", "\u007f", ",", "[", "é", "😀", "null", "a", "b"];
const text = fc.option(fc.string({ unit: fc.constantFrom(...signs), maxLength: 12 }), { nil: null });
const texts = fc.array(text, { minLength: 12, maxLength: 12 });
/** Control characters that JSON spells otherwise than `COPY`. */
const isUnnamed = (field: string | null) => /[\u0001-\u0007\u000b\u000e-\u001f]/.test(field ?? "");

describe("canonical bytes of a line of COPY", () => {
  const spell = canonicalSpeller();
  const at = "2026-11-30 10:00:00.5+00";
  const ms = String(Date.parse("2026-11-30T10:00:00.500Z"));

  it("are those of the fields as JSON, or have a sign that no canonical text has", () =>
    fc.assert(
      fc.property(uuid, hash, nullable, nullable, texts, (id, checksum, orgId, partnerId, rest) => {
        const line = lineOf([id, checksum, at, orgId, partnerId, ...rest]);
        // Not at the begin, and not at the end of what was read.
        const lines = Buffer.concat([line, line, line]);
        const spelled = spell(lines, line.length, line.length * 2 - 1)?.toString();
        const canonical = JSON.stringify(["al1", id, orgId, partnerId, ms, ...rest]);
        if (rest.some(isUnnamed)) expect(spelled).toMatch(/[\u0001-\u001f]|(?<!\\)(?:\\\\)*\\v/);
        else expect(spelled).toBe(canonical);
        expect([idAt(lines, line.length), checksumAt(lines, line.length)]).toEqual([id, checksum]);
        expect(copyFields(line.toString().slice(0, -1))).toEqual([id, checksum, at, orgId, partnerId, ...rest]);
      }),
      { numRuns: 2_000 },
    ));

  it("grow with the line", () => {
    const long = '"'.repeat(200_000);
    const [id, checksum] = [crypto.randomUUID(), "0".repeat(64)];
    const line = lineOf([id, checksum, at, null, null, long]);
    expect(spell(line, 0, line.length - 1)?.toString()).toBe(JSON.stringify(["al1", id, null, null, ms, long]));
  });

  it.each([
    ["a checksum that is null", [crypto.randomUUID(), null, at, null, null, "x"]],
    ["a checksum of another length", [crypto.randomUUID(), "abc", at, null, null, "x"]],
    ["an organization that is no uuid", [crypto.randomUUID(), "0".repeat(64), at, "x", null, "x"]],
    ["no time", [crypto.randomUUID(), "0".repeat(64)]],
  ])("are not spelled where the line has %s", (_, fields) => {
    const line = lineOf(fields);
    expect(spell(line, 0, line.length - 1)).toBeUndefined();
  });

  it("are no canonical text where the time is finer than a millisecond", () => {
    const line = lineOf([crypto.randomUUID(), "0".repeat(64), "2026-11-30 10:00:00.0001+00", null, null, "x"]);
    expect(spell(line, 0, line.length - 1)?.toString()).toContain('"NaN"');
  });
});
