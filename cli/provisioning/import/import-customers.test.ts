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
      { line: 7, reason: expect.any(String) },
    ]);
    expect(file.organizations.map(({ slug }) => slug)).toEqual(["fine", "good", "last", "short"]);
    expect(count).toBe(7);
  });

  it("refuses a row that contradicts an earlier one, naming both", () => {
    const text = "Company,Status,Site,City\nA,active,HQ,Rome\na ,Active,hq,Rome\nA,trial,HQ,Rome\nA,,HQ,Oslo\n";
    const { refused, file } = read(utf8(text), { mapValue: [] });
    expect(refused).toEqual([
      {
        line: 4,
        reason:
          'A: status trial contradicts active of line 2: where the column does not belong there, leave it out: --map "organization.status="',
      },
      {
        line: 5,
        reason:
          'site HQ: address city Oslo contradicts city Rome of line 2: where these are two sites, give each a name: --map "site.name=Site+City"',
      },
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

describe("a mapping", () => {
  const offices = `Company,City,State,Zip,Phone,Contact
Acme,Denver,CO,80202,+1 303 1,Ann
Acme,Boulder,CO,80302,+1 303 2,Bob
`;

  it("that names sites by a column of the address puts it nowhere else unless it is told to", () => {
    const sites = (...map: string[]) => {
      const { file, refused } = read(utf8(offices), { map });
      expect(refused).toEqual([]);
      return file.organizations[0]!["sites"];
    };
    expect(sites("site.name=City")).toEqual([
      { name: "Boulder", address: { region: "CO", postalCode: "80302" } },
      { name: "Denver", address: { region: "CO", postalCode: "80202" } },
    ]);
    const told = read(utf8(offices), { map: ["site.name=City"] }).mapping.displaced;
    expect(told).toContainEqual({ target: "site.address.city", columns: ["City"] });
    expect(sites("site.name=City", "site.address.city=City")).toEqual([
      { name: "Boulder", address: { city: "Boulder", region: "CO", postalCode: "80302" } },
      { name: "Denver", address: { city: "Denver", region: "CO", postalCode: "80202" } },
    ]);
  });

  it("a time zone for new sites stands apart from those that rows name", () => {
    const csv = "Company,Site,Timezone\nA,HQ,Europe/Paris\nA,Lab,\n";
    expect(read(utf8(csv), { timezone: "America/Denver" }).file).toMatchObject({
      newSites: { timezone: "America/Denver" },
      organizations: [{ sites: [{ name: "HQ", timezone: "Europe/Paris" }, { name: "Lab" }] }],
    });
    expect(JSON.stringify(read(utf8(csv)).file)).not.toContain("newSites");
    expect(JSON.stringify(read(utf8(csv), { timezone: "America/Denver" }).file)).not.toContain('"Lab","timezone"');
  });

  it("is suggested by rows that contradict each other, and then they do not", () => {
    const { refused } = read(utf8(offices));
    expect(refused).toEqual([{ line: 3, reason: expect.stringContaining('--map "site.name=City"') }]);
    const twice = "Company,Site,City,Status\nA,HQ,Rome,active\nA,HQ,Oslo,trial\nB,HQ,Rome,\n";
    const [status] = read(utf8(twice), { mapValue: [] }).refused;
    expect(status!.reason).toContain('--map "organization.status="');
    const [site] = read(utf8(twice), { mapValue: [], map: ["organization.status="] }).refused;
    expect(site!.reason).toContain('--map "site.name=Site+City"');
    const done = read(utf8(twice), { mapValue: [], map: ["organization.status=", "site.name=Site+City"] });
    expect(done.refused).toEqual([]);
    expect(done.mapping.unmapped).toEqual(["Status"]);
    expect(JSON.stringify(done.file)).toContain('{"name":"HQ Oslo"}');
  });

  it("names what it drops: a target that lost its column, and fields of a contact that has no name", () => {
    const result = read(utf8(offices), { map: ["site.name=City", "contact.notes=Phone"] });
    expect(result.mapping.displaced).toEqual([
      { target: "site.address.city", columns: ["City"] },
      { target: "contact.phone", columns: ["Phone"] },
    ]);
    const { remarks, file } = read(utf8("Company,Title,Email\nA,Boss,a@x.example\nB,Chief,\n"));
    expect(remarks).toEqual([{ line: 3, message: "names no contact: contact.title is left out" }]);
    expect(file.organizations[1]).not.toHaveProperty("contacts");
  });

  it("never guesses a yes/no column to hold names", () => {
    const text =
      "Company,Primary Contact,Site,Contact,Email\nA,Yes,no,Ann,a@x.example\nA,No,No,Bob,b@x.example\nA,,,Cy,c@x.example\n";
    const { file, mapping, refused } = read(utf8(text));
    expect(refused).toEqual([]);
    expect(mapping.columns.get("contact.isPrimary")).toEqual(["Primary Contact"]);
    expect(mapping.columns.get("contact.name")).toEqual(["Contact"]);
    expect(mapping.unmapped).toEqual(["Site"]);
    expect(file.organizations[0]).not.toHaveProperty("sites");
    expect(read(utf8("Company,Primary Contact\nA,Ann Lee\n")).file.organizations[0]!["contacts"]).toEqual([
      { name: "Ann Lee" },
    ]);
  });

  it("is guessed from the headings of well-known exports, also from those with a prefix", () => {
    const guess = (text: string, more: Partial<ImportOptions> = {}) => {
      const { mapping } = importCustomers(utf8(text), { map: [], mapValue: [], guess: true, ...more });
      return Object.fromEntries([...mapping.columns].map(([target, columns]) => [target, columns.join("+")]));
    };
    expect(
      guess("Name,Short name,Organization type,Location name,address_1,City\nA,a-b,Customer,HQ,1 St,Denver\n"),
    ).toEqual({
      "organization.name": "Name",
      "organization.slug": "Short name",
      "organization.type": "Organization type",
      "site.name": "Location name",
      "site.address.line1": "address_1",
      "site.address.city": "City",
    });
    const prefixed =
      "Company: Company Name,Company: City,Company: Phone,Contact: Job Title,Contact: First Name\nA,B,1,C,D\n";
    expect(guess(prefixed)).toEqual({
      "organization.name": "Company: Company Name",
      "site.address.city": "Company: City",
      "contact.title": "Contact: Job Title",
      "contact.name": "Contact: First Name",
    });
    expect(guess("Company,Short name\nContoso Dental,Contoso\nFabrikam,Fab & Co\n")).toEqual({
      "organization.name": "Company",
    });
    expect(guess("Name,Email,Company\nAna,ana@x.example,A\n")).toMatchObject({ "organization.name": "Company" });
    expect(() => guess("Name,Email\nAna,ana@x.example\n")).toThrow(/No column holds the name/);
    expect(guess("Name,Site\nA,HQ\n", { org: "harbor-dental" })).toEqual({ "site.name": "Site" });
  });

  it("puts columns into the contact of a site", () => {
    const text = "Company,Site,Keyholder,Site Phone,Mail\nA,HQ,Ann,+1 1,ann@x.example\n";
    const map = ["site.contact.name=Keyholder", "site.contact.email=Mail"];
    expect(read(utf8(text), { map }).file.organizations[0]).toMatchObject({
      sites: [{ name: "HQ", contact: { name: "Ann", email: "ann@x.example", phone: "+1 1" } }],
    });
    expect(read(utf8(text), { map: [...map, "contact.email="] }).file.organizations[0]).not.toHaveProperty("contacts");
  });
});

describe("rows of another width", () => {
  it("are fine where only empty cells differ at the end, written or not, and named where cells are missing", () => {
    const { refused, remarks, file } = read(utf8("Company,City,Zip,,\nA,Rome,1,,,,\nB,Oslo\nC,Bonn,2\n"));
    expect(refused).toEqual([]);
    expect(remarks).toEqual([{ line: 3, message: "ends after 2 of 3 columns; taken as empty: Zip" }]);
    expect(file.organizations).toHaveLength(3);
    expect(read(utf8("Company,,City\nA,x,Rome\n")).remarks).toEqual([
      { line: 1, message: "column 2 has no name: it is not used" },
    ]);
  });

  it("are refused where cells belong to no column, or the row seems divided by something else", () => {
    const { refused, file } = read(utf8("Company,City,Zip\nA,Rome,1,x,,y\nB;Oslo;2\nC,Bonn,2\n"));
    expect(refused).toEqual([
      { line: 2, reason: 'has 6 columns, the header has 3: "x", "", "y" belongs to none' },
      { line: 3, reason: 'has 1 column, the header has 3: it seems to be divided by ";"' },
    ]);
    expect(file.organizations).toHaveLength(1);
  });

  it("name the second of two columns that share a name", () => {
    const { remarks, mapping } = read(utf8("Company,Email,Email\nA,a@x.example,b@x.example\n"));
    expect(remarks).toEqual([
      { line: 1, message: "two columns are named Email: this one is called Email (2) in --map" },
    ]);
    expect(mapping.unmapped).toEqual(["Email (2)"]);
  });

  it("never take a number that a spreadsheet cut short for a telephone or a post code", () => {
    const { refused, file } = read(utf8('Company,Phone,Zip\nA,4.93512E+11,1\nB,1,"4,9E+5"\nC,+49 351,01067\n'));
    expect(refused.map(({ line, reason }) => [line, /contact.phone|postalCode/.exec(reason)?.[0]])).toEqual([
      [2, "contact.phone"],
      [3, "postalCode"],
    ]);
    expect(file.organizations.map(({ slug }) => slug)).toEqual(["c"]);
  });
});

describe("one organization", () => {
  const sites = "Site,City,Contact,Email\nHQ,Denver,Ann,ann@x.example\nLab,Boulder,,\n";

  it("is the whole of a file that names none, and keeps its name", () => {
    const { file, refused } = read(utf8(sites), { org: "Harbor-Dental" });
    expect(refused).toEqual([]);
    expect(file.organizations).toEqual([
      {
        slug: "harbor-dental",
        sites: [
          { name: "HQ", address: { city: "Denver" } },
          { name: "Lab", address: { city: "Boulder" } },
        ],
        contacts: [{ name: "Ann", email: "ann@x.example", site: "HQ" }],
      },
    ]);
    const offices = utf8("Office,City\nHQ,Denver\nLab,Boulder\n");
    expect(read(offices, { org: "harbor-dental" }).file.organizations).toMatchObject([
      { sites: [{ name: "HQ" }, { name: "Lab" }] },
    ]);
    expect(() => read(utf8(sites), { org: "Harbor Dental" })).toThrow("not a slug");
    expect(() => read(utf8(sites))).toThrow("No column holds the name");
  });

  it("is chosen from a file of many by slug or name", () => {
    const many = "Company,Site\nHarbor Dental,HQ\nQuay,Pier\nHarbor Dental,Lab\nMüller,A\nMuller,B\n";
    for (const org of ["harbor-dental", "Harbor Dental", "HARBOR-DENTAL"]) {
      expect(read(utf8(many), { org }).file.organizations).toEqual([
        { slug: "harbor-dental", name: "Harbor Dental", sites: [{ name: "HQ" }, { name: "Lab" }] },
      ]);
    }
    const all = read(utf8(many)).slugs.find(({ name }) => name === "Müller")!.slug;
    expect(read(utf8(many), { org: "müller" }).slugs.map(({ slug }) => slug)).toEqual([all]);
    expect(() => read(utf8(many), { org: "harbour dental" })).toThrow("did you mean Harbor Dental");
    const none = expect.objectContaining({
      hint: expect.stringContaining("The rows name Harbor Dental, Quay, Müller"),
    });
    expect(() => read(utf8(many), { org: "nobody" })).toThrow(none);
    const slugs = "Slug,Site\na,HQ\nb,Lab\n";
    expect(read(utf8(slugs), { org: "b" }).file.organizations).toEqual([{ slug: "b", sites: [{ name: "Lab" }] }]);
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
