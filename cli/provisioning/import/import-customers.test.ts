import { describe, expect, it } from "vitest";
import { type ImportOptions, importCustomers } from "./import-customers.ts";
import { proposeSlugs } from "./slugs.ts";

const rows = [
  ["Firma", "Typ", "Standort", "Straße", "PLZ", "Ort", "Vorname", "Nachname", "E-Mail", "Telefon", "Kostenstelle"],
  [
    "Müller & Söhne GmbH",
    "Kunde",
    "Zentrale",
    "Hauptstr. 1\nHinterhaus",
    "01067",
    "Dresden",
    "Jörg",
    "Weiß",
    "joerg@mueller.example",
    "+49 351 1",
    "77",
  ],
  [
    "Müller & Söhne GmbH",
    "Kunde",
    'Werk "Süd"',
    "Südring 5; Tor 2",
    "01069",
    "Dresden",
    "Inge, Dr.",
    "Groß",
    "inge@mueller.example",
    "",
    "",
  ],
  ["Café Łódź", "Intern", "", "", "", "", "Zoë", "", "", "0301", ""],
];

const csv = (delimiter: string, end: string) =>
  rows
    .map((row) =>
      row.map((cell) => (/["\n;,\t|]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(delimiter),
    )
    .join(end) + end;

/** Only what cp1252 has. */
const western = (text: string) => text.replaceAll("Łódź", "Logis");
const cp1252 = (text: string) => Uint8Array.from(western(text), (char) => char.charCodeAt(0));
const utf8 = (text: string, bom = "") => new TextEncoder().encode(bom + text);
const utf16 = (text: string, little: boolean) => {
  const buffer = Buffer.from(`\uFEFF${text}`, "utf16le");
  return little ? buffer : buffer.swap16();
};

const options: ImportOptions = { map: [], mapValue: ["type:kunde=customer", "type:Intern=internal"], guess: true };
const read = (bytes: Uint8Array, more: Partial<ImportOptions> = {}) => importCustomers(bytes, { ...options, ...more });

describe("importing customers", () => {
  const expected = [
    {
      slug: "cafe-lodz",
      name: "Café Łódź",
      type: "internal",
      contacts: [{ name: "Zoë", phone: "0301" }],
    },
    {
      slug: "muller-sohne-gmbh",
      name: "Müller & Söhne GmbH",
      type: "customer",
      sites: [
        { name: 'Werk "Süd"', address: { line1: "Südring 5; Tor 2", postalCode: "01069", city: "Dresden" } },
        {
          name: "Zentrale",
          address: { line1: "Hauptstr. 1", line2: "Hinterhaus", postalCode: "01067", city: "Dresden" },
        },
      ],
      contacts: [
        { name: "Inge, Dr. Groß", email: "inge@mueller.example", site: 'Werk "Süd"' },
        { name: "Jörg Weiß", email: "joerg@mueller.example", phone: "+49 351 1", site: "Zentrale" },
      ],
    },
  ];

  const dialects = [",", ";", "\t", "|"].flatMap((delimiter) =>
    ["\n", "\r\n", "\r"].map((end) => ({ delimiter, end })),
  );
  it.each(dialects)("reads $delimiter with $end in every encoding", ({ delimiter, end }) => {
    const text = csv(delimiter, end);
    for (const bytes of [utf8(text), utf8(text, "\uFEFF"), utf16(text, true), utf16(text, false)]) {
      const result = read(bytes);
      expect(result.file.organizations).toEqual(expected);
      expect(result.delimiter).toBe(delimiter);
      expect(result.refused).toEqual([]);
    }
    const old = read(cp1252(text));
    expect(old.encoding).toBe("windows-1252");
    expect(JSON.stringify(old.file)).toContain("Müller & Söhne GmbH");
    expect(old.file.organizations).toHaveLength(2);
  });

  it("names unmapped columns and guesses once, and lets --map decide", () => {
    const result = read(utf8(csv(",", "\n")), { map: ["contact.notes=kostenstelle", "contact.name=Nachname+Vorname"] });
    expect(result.mapping.unmapped).toEqual([]);
    expect(read(utf8(csv(",", "\n"))).mapping.unmapped).toEqual(["Kostenstelle"]);
    expect(JSON.stringify(result.file)).toContain('"name":"Weiß Jörg"');
    expect(JSON.stringify(result.file)).toContain('"notes":"77"');
    expect([...result.mapping.guessed]).not.toContain("contact.name");
  });

  it("refuses wrong maps with what there is", () => {
    const bytes = utf8(csv(",", "\n"));
    expect(() => read(bytes, { map: ["contact.name=Vornam"] })).toThrow("no column Vornam (did you mean Vorname");
    expect(() => read(bytes, { map: ["name=Firma"] })).toThrow("name may be organization.name or");
    expect(() => read(bytes, { map: ["contact.nam=Firma"] })).toThrow("there is no contact.nam");
    expect(() => read(bytes, { guess: false })).toThrow("No column holds the name");
  });

  it("refuses a bad row with its line and goes on, also after a quote that never closes", () => {
    const text = `Company,Email,Type,First Name
Good,a@x.example,customer,A

,b@x.example,customer,B
Bad mail,nonsense,owner,C
Short,c@x.example
"Open,d@x.example,customer,D
Fine,e@x.example,customer,"E
second line"
Last,f@x.example,internal,F
`;
    const { refused, file, rows: count } = read(utf8(text), { mapValue: [] });
    expect(refused).toEqual([
      { line: 4, reason: "organization.name is empty" },
      {
        line: 5,
        reason: expect.stringMatching(
          /contact\.email: "nonsense" is not an email address.*type: "owner" is not one of customer, internal: give --map-value 'type:owner=…'|organization\.type.*contact\.email/,
        ),
      },
      { line: 6, reason: "has 2 columns, the header has 4" },
      { line: 7, reason: expect.any(String) },
    ]);
    expect(file.organizations.map(({ slug }) => slug)).toEqual(["fine", "good", "last"]);
    expect(count).toBe(7);
  });

  it("refuses a row that contradicts an earlier one, naming both", () => {
    const text = "Company,Status,Site,City\nA,active,HQ,Rome\na ,Active,hq,Rome\nA,trial,HQ,Rome\nA,,HQ,Oslo\n";
    const { refused, file } = read(utf8(text), { mapValue: [] });
    expect(refused).toEqual([
      { line: 4, reason: "A: status trial contradicts active of line 2" },
      { line: 5, reason: 'site HQ: address {"city":"Oslo"} contradicts {"city":"Rome"} of line 2' },
    ]);
    expect(file.organizations).toHaveLength(1);
  });

  it("asks for the order of day and month where it matters", () => {
    const text = "Company,Contract Start,Contract End\nA,03/04/2026,01.02.2027\n";
    expect(read(utf8(text)).refused).toEqual([{ line: 2, reason: expect.stringContaining("--dates dmy") }]);
    expect(read(utf8(text), { dates: "dmy" }).file.organizations[0]).toMatchObject({
      contractStart: "2026-04-03",
      contractEnd: "2027-02-01",
    });
    expect(read(utf8(text), { dates: "mdy" }).file.organizations[0]).toMatchObject({ contractStart: "2026-03-04" });
  });

  it("reads what spreadsheets add: sep=, formula quotes, trailing delimiters, two columns of one name", () => {
    const text = 'sep=;\nCompany;Zip;Email;Email;\nA;="01067";a@x.example;b@x.example;;\n';
    const { file, mapping, refused } = read(utf8(text));
    expect(refused).toEqual([]);
    expect(file.organizations).toMatchObject([
      { sites: [{ name: "Main", address: { postalCode: "01067" } }], contacts: [{ email: "a@x.example" }] },
    ]);
    expect(mapping.unmapped).toEqual(["Email (2)"]);
  });
});

describe("proposed slugs", () => {
  const names = [
    "Müller AG",
    "Muller AG",
    "東京物産",
    "مؤسسة النور",
    "ООО Ромашка",
    "Ελληνικά Έργα",
    "A & B",
    "A-B",
    "!!!",
    "Straße 9",
    "Café",
    "さくら Sakura",
  ];

  it("fold, spell out or hash every script", () => {
    const slugs = proposeSlugs(names, new Set());
    expect(slugs.get("muller ag")).toBe("muller-ag");
    expect(slugs.get("müller ag")).toMatch(/^muller-ag-[0-9a-f]{6}$/);
    expect(slugs.get("東京物産")).toMatch(/^org-[0-9a-f]{8}$/);
    expect(slugs.get("مؤسسة النور")).toMatch(/^org-[0-9a-f]{8}$/);
    expect(slugs.get("ооо ромашка")).toBe("ooo-romashka");
    expect(slugs.get("ελληνικά έργα")).toBe("ellinika-erga");
    expect(slugs.get("straße 9")).toBe("strasse-9");
    expect(slugs.get("さくら sakura")).toMatch(/^sakura-[0-9a-f]{6}$/);
    expect(new Set(slugs.values()).size).toBe(names.length);
    for (const slug of slugs.values()) expect(slug).toMatch(/^[a-z0-9][a-z0-9_-]{0,99}$/);
  });

  it("do not depend on the order of the rows or on the run", () => {
    const once = proposeSlugs(names, new Set());
    expect(proposeSlugs(names.toReversed(), new Set())).toEqual(new Map([...once].toReversed()));
    expect(proposeSlugs(["Café"], new Set(["cafe"])).get("café")).toMatch(/^cafe-[0-9a-f]{6}$/);
  });
});
