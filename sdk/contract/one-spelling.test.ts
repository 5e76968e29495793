import { describe, expect, it, test } from "vitest";
import type { z } from "zod";
import { foldName, invisibleIn, looksOf, withoutInvisible } from "./core/characters.ts";
import { asciiDomain, canonicalEmail } from "./core/email.ts";
import type { FieldMeta } from "./core/fields.ts";
import { allEndpoints } from "./index.ts";

/** Zero-width, joining where nothing joins, bidirectional, soft, filling and controlling characters. */
const unseen = [
  ..."\u200b\u200c\u200d\u2060\u00ad\u034f\u180e\u061c\u202e\u2066\u2069\u3164\u115f\u2800\ufe0f\ufff9\u0007\u001b\u007f\u009b",
];

/** What people may write, and where it has a joiner or a selector that cannot be seen by itself. */
const seen = [
  "株式会社　テスト",
  "مؤسسة النور",
  "می‌خواهم",
  "क्‍ष",
  "👩‍💻 ❤️ 1️⃣",
  "葛󠄀城",
  "O’Brien & Søn",
  "a\tb\nc",
  "Ünïcode",
];

interface Text {
  name: string;
  read(value: string): { success: boolean; data?: unknown };
  good: string;
}

/** What a machine saw stays as it was, since people decide on it; whoever shows it escapes it (docs/elevation-requests.md, "A report"). */
const asSeen = new Set(["elevation-requests.report"]);

/** Fields of bodies in which people write text of their own. */
const texts: Text[] = allEndpoints()
  .filter(({ from, noun, verb }) => from !== "machine" && !asSeen.has(`${noun}.${verb}`))
  .flatMap((endpoint) => {
    const shape = (endpoint.schemas().body as { shape?: Record<string, z.ZodType> } | undefined)?.shape ?? {};
    return Object.entries(shape).flatMap(([field, schema]) => {
      if (isSecret(schema)) return [];
      const good = ["Abc", "ana@contoso.example", "contoso.example", "https://contoso.example/Abc"].find(
        (value) => schema.safeParse(value).success,
      );
      const read = (value: string) => schema.safeParse(value);
      return good === undefined ? [] : [{ name: `${endpoint.noun}.${endpoint.verb} ${field}`, read, good }];
    });
  });

function isSecret(schema: z.ZodType): boolean {
  const meta = schema.meta() as FieldMeta | undefined;
  const inner = (schema as unknown as { def: { innerType?: z.ZodType } }).def.innerType;
  return meta?.secret === true || (inner !== undefined && isSecret(inner));
}

test("no text of people holds what nobody can see, in any field of any endpoint (C65)", () => {
  expect(texts.length).toBeGreaterThan(40);
  const taken = texts.flatMap(({ name, read, good }) =>
    unseen.flatMap((char) => {
      const kept = [2, good.length - 1].some((at) => {
        const result = read(`${good.slice(0, at)}${char}${good.slice(at)}`);
        return result.success && JSON.stringify(result.data).includes(JSON.stringify(char).slice(1, -1));
      });
      return kept ? [`${name} takes ${invisibleIn(char)}`] : [];
    }),
  );
  expect(taken).toEqual([]);
});

describe("characters that nobody can see", () => {
  it.each(unseen.map((char) => [char.codePointAt(0)!.toString(16), char]))(
    "U+%s is found in Latin text (C65)",
    (_hex, char) => {
      expect(invisibleIn(`De${char}lta`)).toMatch(/^U\+/);
      expect(withoutInvisible(`De${char}lta 👩‍💻`)).toBe("De\ufffdlta 👩‍💻");
    },
  );

  it.each(seen)("%s holds none (C65)", (text) => {
    expect(invisibleIn(text)).toBeUndefined();
    expect(withoutInvisible(text)).toBe(text);
  });
});

it.each([
  ["ANA@Contoso.Example ", "ana@contoso.example"],
  ["jose\u0301@x.example", "josé@x.example"],
  ["josé@x.example", "josé@x.example"],
  ["ana@bücher.example", "ana@xn--bcher-kva.example"],
  ["ana@bu\u0308cher.EXAMPLE", "ana@xn--bcher-kva.example"],
  ["ana@XN--BCHER-KVA.example", "ana@xn--bcher-kva.example"],
])("%j has the one form %j (C65)", (written, form) => {
  expect(canonicalEmail(written)).toBe(form);
  expect(canonicalEmail(form)).toBe(form);
});

it.each([
  "ａna@x.example",
  "ana@ｘ.example",
  "\u212Aai@x.example",
  "ana@x.example.",
  "a\u200bna@x.example",
  "\ufeffana@x",
  "ﬁ@x.example",
])("%j is refused, for it would become another address (C65)", (text) => {
  expect(canonicalEmail(text)).toBeUndefined();
});

it("domains have one form, and no other letters than they show (C65)", () => {
  for (const text of ["Bücher.Example", "bu\u0308cher.example.", "XN--BCHER-KVA.EXAMPLE"])
    expect(asciiDomain(text)).toBe("xn--bcher-kva.example");
  for (const text of ["ｂücher.example", "bu\u200bcher.example", "b\u00adcher.example", "ex ample", "example"])
    expect(asciiDomain(text)).toBeUndefined();
  for (const more of ["/x", "#x", "?x", ":443", "\\x", "%2fx", "\t"])
    expect(asciiDomain(`contoso.example${more}`)).toBeUndefined();
  expect(asciiDomain("ana@contoso.example")).toBeUndefined();
});

it("names fold alike whatever their case, width, blanks and form (C65)", () => {
  const spellings = ["Delta Ltd", " delta  LTD", "Ｄｅｌｔａ\u00a0Ltd", "Delta\u200b Ltd", "Delta\u3000Ltd"];
  expect(new Set(spellings.map(foldName))).toEqual(new Set(["delta ltd"]));
  expect(foldName("Cafe\u0301")).toBe(foldName("Café"));
  expect(looksOf("Müller & Söhne, GmbH.")).toBe(looksOf("Muller Sohne GMBH"));
  expect(looksOf("Delta 1")).not.toBe(looksOf("Delta 2"));
  expect(looksOf("!!!")).not.toBe(looksOf("???"));
});
