import { describe, expect, it } from "vitest";
import { readModel } from "./read-model.ts";

const sound = `apiVersion: rmm/v1
organizations:
  - slug: Harbor-Dental
    name: Harbor Dental
    contractStart: 2026-01-01
    billingContact: { name: Ana Ruiz, zip: 01067, phone: +4930123 }
    sites:
      - { name: HQ, timezone: America/Denver, address: { line1: 1 Main St } }
    contacts:
      - { name: "  Ana  Ruiz ", email: ANA@Harbor.example, roles: [billing, billing], isPrimary: true, site: "" }
      - { phone: "+49 30 1", notes: null }
    enrollmentKeys:
      - { name: hq, site: hq, maxUsage: 25, expiresIn: 30d, sink: "file:secrets/hq.key" }
`;

const problemsOf = async (text: string) =>
  (await readModel(text)).problems.map(({ line, path, message }) => `${line} ${path}: ${message}`);

describe("the provisioning file", () => {
  it("reads YAML into the model and keeps absent apart from cleared", async () => {
    const { model } = await readModel(sound);
    const [one] = model!.organizations;
    expect(one).toMatchObject({
      slug: "harbor-dental",
      line: 3,
      contractStart: "2026-01-01T00:00:00.000Z",
      billingContact: { zip: "01067", phone: "+4930123" },
    });
    expect(one).not.toHaveProperty("maxDevices");
    expect(one!.contacts).toMatchObject([
      { name: "Ana  Ruiz", email: "ana@harbor.example", roles: ["billing"], site: null, line: 10 },
      { notes: null },
    ]);
    expect(one!.contacts![1]).not.toHaveProperty("site");
    expect(one!.enrollmentKeys![0]).toMatchObject({
      expiresInMs: 30 * 86_400_000,
      sink: { kind: "file", path: "secrets/hq.key" },
    });
  });

  it("reads JSON the same", async () => {
    const { model } = await readModel(
      JSON.stringify({ apiVersion: "rmm/v1", organizations: [{ slug: "a", contacts: [] }] }),
    );
    expect(model).toMatchObject({ organizations: [{ slug: "a", contacts: [] }] });
    expect(model!.organizations[0]).not.toHaveProperty("sites");
  });

  it("follows anchors and merge keys", async () => {
    const { model } = await readModel(`apiVersion: rmm/v1
organizations:
  - { slug: a, sites: [&hq { name: HQ, timezone: Europe/Paris }] }
  - { slug: b, sites: [*hq, { <<: *hq, name: Lab }] }
`);
    expect(model!.organizations[1]!.sites).toMatchObject([{ name: "HQ" }, { name: "Lab", timezone: "Europe/Paris" }]);
  });

  it("names every violation of the schema with its line at once", async () => {
    const text = `apiVersion: rmm/v2
organizations:
  - slug: -x
    nam: A
    status: frozen
    maxDevices: 1.5
    sites:
      - timezone: Europe/Berlin
    contacts:
      - phone: [301234]
        roles: [boss]
    enrollmentKeys:
      - { name: k, maxUsage: 0, expiresIn: 5 weeks, sink: "secrets/k" }
`;
    expect(await problemsOf(text)).toEqual([
      "1 apiVersion: must be rmm/v1",
      "3 organizations[0].slug: must be 1 to 100 of a-z, 0-9, - and _, and start with a letter or digit",
      "4 organizations[0].nam: is not a known key (did you mean name?)",
      "5 organizations[0].status: must be one of active, trial, suspended, churned",
      "6 organizations[0].maxDevices: must be a whole number or null",
      "8 organizations[0].sites[0]: name is missing",
      "10 organizations[0].contacts[0].phone: must be text or null",
      "11 organizations[0].contacts[0].roles[0]: must be one of billing, technical, escalation, admin, site, after_hours, portal",
      "13 organizations[0].enrollmentKeys[0].maxUsage: must be at least 1",
      "13 organizations[0].enrollmentKeys[0].expiresIn: must be a time from the creation (30d, +30d, 12h, 90m), a date (2027-01-31) or a date and time with offset",
      "13 organizations[0].enrollmentKeys[0].sink: must be file:PATH, github-output:NAME or stdout",
    ]);
  });

  it("names an unknown key, and a key whose value is wrong, at the key's own line", async () => {
    const text = `apiVersion: rmm/v1
organizations:
  - slug: a
    adress:

      line1: 1 Main St
    sites:

      name: HQ
    contacts:
      - name: Ana
        phones:
          - "1"
`;
    expect(await problemsOf(text)).toEqual([
      "4 organizations[0].adress: is not a known key",
      "7 organizations[0].sites: must be a list or null",
      "12 organizations[0].contacts[0].phones: is not a known key (did you mean phone?)",
    ]);
  });

  it("reads state as region, and refuses two that differ at the line of state", async () => {
    const book = (address: string) =>
      `apiVersion: rmm/v1\norganizations:\n  - slug: a\n    sites:\n      - name: HQ\n        address:\n          ${address}\n`;
    const addressOf = async (address: string) =>
      (await readModel(book(address))).model?.organizations[0]?.sites?.[0]?.address;
    expect(await addressOf("{ city: Denver, state: CO }")).toEqual({ city: "Denver", region: "CO" });
    expect(await addressOf('{ state: CO, region: "" }')).toEqual({ region: "CO" });
    expect(await addressOf("{ state: CO, region: CO }")).toEqual({ region: "CO" });
    expect(await addressOf("{ state: null, region: CO }")).toEqual({ region: "CO" });
    expect(await problemsOf(book("region: Rockies\n          state: CO"))).toEqual([
      "8 organizations[0].sites[0].address.state: must be the same as region, whose other name it is",
    ]);
  });

  it.each([
    ["30d", { expiresInMs: 30 * 86_400_000 }],
    ["+30d", { expiresInMs: 30 * 86_400_000 }],
    ["4w", { expiresInMs: 28 * 86_400_000 }],
    ["+90m", { expiresInMs: 90 * 60_000 }],
    ["2027-01-31", { expiresAt: "2027-01-31T00:00:00.000Z" }],
    ["2027-01-31T09:00:00+02:00", { expiresAt: "2027-01-31T07:00:00.000Z" }],
  ])("reads the end of a key as a time from its creation or a date, under either name: %s", async (text, read) => {
    for (const name of ["expiresIn", "expiresAt"]) {
      const { model } = await readModel(
        `apiVersion: rmm/v1\norganizations: [{ slug: a, enrollmentKeys: [{ name: k, ${name}: "${text}" }] }]\n`,
      );
      const { expiresInMs, expiresAt } = model!.organizations[0]!.enrollmentKeys![0]!;
      expect({ expiresInMs, expiresAt }).toEqual({ expiresInMs: undefined, expiresAt: undefined, ...read });
    }
  });

  it.each(["-30d", "0d", "30", "30 d", "tomorrow", "2027-02-30", "1h30m"])(
    "refuses %s as the end of a key",
    async (text) => {
      const book = `apiVersion: rmm/v1\norganizations: [{ slug: a, enrollmentKeys: [{ name: k, expiresAt: "${text}" }] }]\n`;
      expect(await problemsOf(book)).toEqual([expect.stringMatching(/expiresAt: (must be a time|.* is not a date)/)]);
    },
  );

  it("names duplicates with both lines, unknown sites, impossible dates and time zones", async () => {
    const text = `apiVersion: rmm/v1
organizations:
  - slug: a
    contractStart: 2026-02-30
    sites:
      - name: HQ
        timezone: Mars/Base
      - name: " hq "
    contacts:
      - { name: A, email: a@x.example, isPrimary: true }
      - { name: a, email: A@x.example, isPrimary: true }
      - { name: B, site: HQQ, email: nonsense }
      - { title: Boss }
    enrollmentKeys:
      - { name: k, sink: "file:secrets/k" }
      - { name: K, sink: "file:./secrets/k", expiresIn: 1d, expiresAt: 2030-01-01 }
  - slug: A
`;
    expect(await problemsOf(text)).toEqual([
      "4 organizations[0].contractStart: 2026-02-30 is not a date of the calendar",
      "7 organizations[0].sites[0].timezone: Mars/Base is not an IANA time zone",
      "8 organizations[0].sites[1]: site hq in a stands twice: lines 6 and 8",
      "11 organizations[0].contacts[1]: contact a in a stands twice: lines 10 and 11",
      "11 organizations[0].contacts[1]: a primary contact of a stands twice: lines 10 and 11",
      "12 organizations[0].contacts[2].email: nonsense is not an email address",
      "12 organizations[0].contacts[2].site: HQQ is not among the sites of a (did you mean HQ or hq?)",
      "13 organizations[0].contacts[3]: needs a name, email, phone or mobile",
      "16 organizations[0].enrollmentKeys[1]: sink file:./secrets/k stands twice: lines 15 and 16",
      "16 organizations[0].enrollmentKeys[1]: enrollment key K in a stands twice: lines 15 and 16",
      "16 organizations[0].enrollmentKeys[1]: expiresIn and expiresAt are one thing: give one of them",
      "17 organizations[1]: slug a stands twice: lines 3 and 17",
    ]);
  });

  it("names the line of broken YAML, of a key that stands twice, and refuses alias bombs", async () => {
    expect(await problemsOf("apiVersion: rmm/v1\norganizations: [\n")).toMatchObject([expect.stringMatching(/^[23] /)]);
    expect(await problemsOf("apiVersion: rmm/v1\napiVersion: rmm/v1\norganizations: []\n")).toMatchObject([
      expect.stringMatching(/^2 .*unique/),
    ]);
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[..."bcdefgh"]
      .map(
        (name, at) =>
          `${name}: &${name} [${"*"
            .repeat(9)
            .split("")
            .map((star) => star + "abcdefg"[at])
            .join(",")}]`,
      )
      .join("\n")}`;
    expect(await problemsOf(bomb)).toMatchObject([expect.stringMatching(/alias/i)]);
    expect(await problemsOf("")).toEqual(["1 : must be an object"]);
  });
});
