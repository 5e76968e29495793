import { describe, expect, it } from "vitest";
import { diff } from "./diff.ts";
import type { LiveContact, LiveKey, LiveMe, LiveOrg, LiveOrganization, LiveSite } from "./live.ts";
import { shownSteps } from "./plan.ts";
import { readModel } from "./read-model.ts";

const NOW = Date.parse("2026-03-02T09:00:00Z");
const me = { id: "me" } as LiveMe;
const org = (fields: Partial<LiveOrg> = {}) =>
  ({
    id: "o",
    slug: "a",
    name: "A",
    status: "active",
    type: "customer",
    maxDevices: 5,
    settings: {},
    billingContact: { b: 1, a: 2 },
    contractStart: null,
    ...fields,
  }) as LiveOrg;
const site = (id: string, name: string, fields: Partial<LiveSite> = {}) =>
  ({ id, name, timezone: "UTC", address: null, ...fields }) as LiveSite;
const contact = (id: string, fields: Partial<LiveContact>) =>
  ({
    id,
    siteId: null,
    name: null,
    email: null,
    phone: null,
    mobile: null,
    title: null,
    roles: [],
    isPrimary: false,
    notes: null,
    ...fields,
  }) as LiveContact;
const key = (id: string, name: string, fields: Partial<LiveKey> = {}) =>
  ({
    id,
    name,
    siteId: null,
    maxUsage: 1,
    createdBy: "me",
    createdAt: "2026-03-02T08:00:00.000Z",
    keyIssuedAt: "2026-03-02T08:00:00.000Z",
    expiresAt: "2026-04-01T00:00:00.000Z",
    ...fields,
  }) as LiveKey;

async function planOf(yaml: string, live?: Partial<LiveOrganization>, sinkHolds = true) {
  const { model, problems } = await readModel(`apiVersion: rmm/v1\norganizations:\n${yaml}`);
  expect(problems).toEqual([]);
  const organizations = new Map(
    live ? [["a", { organization: org(), sites: [], contacts: [], keys: [], ...live }]] : [],
  );
  const plan = diff(
    model!,
    { me, partnerId: "p", organizations, known: [] },
    { nowMs: NOW, sinkHolds: () => sinkHolds },
  );
  return {
    steps: shownSteps(plan).map(({ step }) =>
      `${step.action} ${step.kind} ${step.name} ${step.changes.map(({ field, before, after }) => `${field}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`).join(", ")}`.trim(),
    ),
    conflicts: plan.conflicts.map(({ line, message }) => `${line} ${message}`),
    notes: plan.organizations.flatMap(({ notes }) =>
      notes.map(({ message, command }) => `${message} | ${command ?? ""}`),
    ),
    plan,
  };
}

describe("the plan", () => {
  it("creates what is missing, in the order of the file", async () => {
    const { steps, conflicts } = await planOf(`
  - slug: a
    name: A
    sites: [{ name: HQ }]
    contacts: [{ name: Ana, site: HQ, roles: [billing] }]
    enrollmentKeys: [{ name: k, expiresIn: 12h, sink: stdout }]`);
    expect(conflicts).toEqual([]);
    expect(steps).toEqual([
      'create organization a slug: null → "a", name: null → "A"',
      'create site HQ name: null → "HQ"',
      'create contact Ana name: null → "Ana", roles: null → ["billing"], site: null → "HQ"',
      'create enrollmentKey k name: null → "k", maxUsage: null → 1, expiresAt: null → "12h after creation", sink: null → "stdout"',
    ]);
  });

  it("lists exactly the edits: absent keeps, null clears, another key order or role order is no edit", async () => {
    const live = {
      sites: [site("s", "HQ", { address: { city: "X" } })],
      contacts: [contact("c", { name: "Ana", email: "ana@x.example", roles: ["admin", "billing"], title: "Boss" })],
    };
    const same =
      "{ slug: a, name: A, type: customer, maxDevices: 5, billingContact: { a: 2, b: 1 }, sites: [{ name: HQ, timezone: UTC }], contacts: [{ email: ANA@x.example, roles: [billing, admin] }] }";
    expect((await planOf(`  - ${same}`, live)).steps).toEqual([]);
    const edited =
      "{ slug: a, maxDevices: null, sites: [{ name: hq, timezone: Europe/Paris, address: null }], contacts: [{ email: ana@x.example, title: '', site: HQ }] }";
    expect((await planOf(`  - ${edited}`, live)).steps).toEqual([
      "update organization a maxDevices: 5 → null",
      'update site hq name: "HQ" → "hq", timezone: "UTC" → "Europe/Paris", address: {"city":"X"} → null',
      'update contact Ana title: "Boss" → null, site: null → "HQ"',
    ]);
  });

  it("gives what newSites says to sites that are made alone", async () => {
    const file =
      "  - { slug: a, sites: [{ name: HQ }, { name: Lab }, { name: Depot, timezone: Asia/Tokyo }] }\n" +
      "newSites: { timezone: America/Denver }";
    expect((await planOf(file, { sites: [site("s", "HQ")] })).steps).toEqual([
      'create site Lab name: null → "Lab", timezone: null → "America/Denver"',
      'create site Depot name: null → "Depot", timezone: null → "Asia/Tokyo"',
    ]);
  });

  it("lists deletes first, only of collections that the file manages", async () => {
    const live = {
      sites: [site("s", "HQ"), site("t", "Lab", { deviceCount: 3 })],
      contacts: [contact("c", { name: "Ana" })],
      keys: [key("k", "k")],
    };
    expect((await planOf("  - { slug: a }", live)).steps).toEqual([]);
    const { steps, notes, plan } = await planOf(
      "  - { slug: a, name: B, sites: [{ name: HQ }], contacts: [], enrollmentKeys: null }",
      live,
    );
    expect(steps).toEqual([
      "delete contact Ana",
      "delete enrollmentKey k",
      "delete site Lab",
      'update organization a name: "A" → "B"',
    ]);
    expect(notes).toEqual([]);
    expect(shownSteps(plan).map(({ step }) => step.refused)).toEqual([
      undefined,
      undefined,
      "3 devices must leave it first",
      undefined,
    ]);
  });

  it("refuses to delete a site under a contact or a key that the file keeps", async () => {
    const live = {
      sites: [site("s", "HQ")],
      contacts: [contact("c", { name: "Ana", siteId: "s" })],
      keys: [key("k", "k", { siteId: "s" })],
    };
    const { conflicts } = await planOf(
      "  - { slug: a, sites: [], contacts: [{ name: Ana }], enrollmentKeys: [{ name: k }] }",
      live,
    );
    expect(conflicts).toHaveLength(2);
    expect((await planOf("  - { slug: a, sites: [], contacts: [{ name: Ana, site: null }] }", live)).conflicts).toEqual(
      [],
    );
  });

  it("mints a key once: what differs later is a note with the command, never a second key", async () => {
    const yaml = "  - { slug: a, enrollmentKeys: [{ name: K, maxUsage: 9, expiresIn: 1d, sink: 'file:s/k' }] }";
    const { steps, notes } = await planOf(yaml, { keys: [key("id1", "k")] });
    expect(steps).toEqual([]);
    expect(notes).toEqual([
      "maxUsage 1 → 9: needs a rotation | rmm enrollment-keys rotate id1 --yes --max-usage 9 --secret-file s/k",
    ]);
  });

  it("delivers a fresh secret that never reached its sink, and calls an older one lost", async () => {
    const yaml = "  - { slug: a, enrollmentKeys: [{ name: k, sink: 'file:s/k' }] }";
    expect((await planOf(yaml, { keys: [key("id1", "k")] }, false)).steps).toEqual([
      'deliver enrollmentKey k sink: null → "file:s/k"',
    ]);
    const lost = [
      "the key exists, but its secret is not in file:s/k: rotate it | rmm enrollment-keys rotate id1 --yes --secret-file s/k",
    ];
    expect(
      await planOf(
        yaml,
        { keys: [key("id1", "k", { createdAt: "2026-03-01T09:30:00.000Z", keyIssuedAt: "2026-03-01T09:30:00.000Z" })] },
        false,
      ),
    ).toMatchObject({ steps: [], notes: lost });
    expect(await planOf(yaml, { keys: [key("id1", "k", { createdBy: "else" })] }, false)).toMatchObject({
      steps: [],
      notes: lost,
    });
  });

  it("names everything that cannot be decided", async () => {
    const twins = { sites: [site("s", "HQ"), site("t", "HQ")] };
    expect((await planOf("  - { slug: a, sites: [{ name: HQ }] }", twins)).conflicts).toEqual([
      "3 the server has 2 sites named HQ: s, t; rename or remove one",
    ]);
    expect(
      (
        await planOf(
          "  - { slug: b, contacts: [{ name: x, site: HQ }], enrollmentKeys: [{ name: k }, { name: l, sink: stdout, expiresAt: 2026-01-01 }] }",
        )
      ).conflicts,
    ).toEqual([
      "3 a new organization needs a name",
      "3 b has no site HQ, and the file lists none",
      "3 a new key needs a sink, or its secret would be lost: file:PATH, github-output:NAME or stdout",
      "3 expiresAt 2026-01-01T00:00:00.000Z has passed",
    ]);
  });

  it("refuses changes that the organization's status would refuse", async () => {
    const churned = { organization: org({ status: "churned" }) };
    expect((await planOf("  - { slug: a, name: B }", churned)).conflicts).toHaveLength(1);
    expect((await planOf("  - { slug: a, name: B, status: active }", churned)).conflicts).toEqual([]);
    const suspended = { organization: org({ status: "suspended" }) };
    expect((await planOf("  - { slug: a, name: B }", suspended)).conflicts).toEqual([]);
    expect(
      (await planOf("  - { slug: a, enrollmentKeys: [{ name: k, sink: stdout }] }", suspended)).conflicts,
    ).toHaveLength(1);
  });

  it("lets a moving primary contact yield to the one that the file makes primary there", async () => {
    const live = {
      sites: [site("s", "HQ")],
      contacts: [
        contact("c", { name: "Ana", isPrimary: true }),
        contact("d", { name: "Bob", siteId: "s", isPrimary: true }),
      ],
    };
    expect(
      (
        await planOf(
          "  - { slug: a, contacts: [{ name: Ana, site: HQ }, { name: Bob, site: HQ, isPrimary: true }] }",
          live,
        )
      ).steps,
    ).toEqual(['update contact Ana isPrimary: true → false, site: null → "HQ"']);
  });
});
