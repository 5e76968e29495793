import { expect, it } from "vitest";
import { readModel } from "../read-model.ts";
import { diffExports } from "./diff.ts";
import type { ExportedOrganization, ExportedState } from "./read-live.ts";

const book = "apiVersion: rmm/v1\norganizations:\n  - { slug: harbor, name: Harbor Dental }\n";

async function notesWhere(withheld: ExportedState["withheld"]): Promise<string[]> {
  const { model } = await readModel(book);
  const live = { organizations: new Map(), sites: [], withheld };
  const options = { nowMs: 0, sinkHolds: () => false, redeliver: false, assumeMade: false };
  return diffExports(model!, live, options).organizations.flatMap(({ notes }) => notes.map(({ message }) => message));
}

it("an organization that the export may withhold is planned with that word: it may be there already", async () => {
  expect(await notesWhere({ organizations: false, sitesOf: new Set() })).toEqual([]);
  expect(await notesWhere({ organizations: true, sitesOf: new Set() })).toEqual([
    expect.stringContaining("the export withholds organizations"),
  ]);
});

it("a key for a site that the export withholds is a person's to mint, and no step that would fail", async () => {
  const { model } = await readModel(
    "apiVersion: rmm/v1\norganizations:\n  - slug: harbor\n    sites: [{ name: HQ }]\n    enrollmentKeys:\n" +
      "      - { name: rollout, site: HQ, sink: 'file:a.key' }\n      - { name: spare, sink: 'file:b.key' }\n",
  );
  const harbor = { id: "o1", slug: "harbor", name: "harbor", type: "customer" } as unknown as ExportedOrganization;
  const live = {
    organizations: new Map([["harbor", harbor]]),
    sites: [],
    withheld: { organizations: false, sitesOf: new Set(["o1"]) },
  };
  const options = { nowMs: 0, sinkHolds: () => false, redeliver: false, assumeMade: false };
  const [plan] = diffExports(model!, live, options).organizations;
  expect(plan?.keys.map(({ name }) => name)).toEqual(["spare"]);
  expect(plan?.notes.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    "site HQ",
    "enrollmentKey rollout",
    "enrollmentKey spare",
  ]);
});

it("what newSites says goes to sites that are made", async () => {
  const { model } = await readModel(
    "apiVersion: rmm/v1\nnewSites: { timezone: America/Denver }\norganizations:\n" +
      "  - { slug: harbor, name: Harbor, sites: [{ name: HQ }, { name: Depot, timezone: Asia/Tokyo }] }\n",
  );
  const live = { organizations: new Map(), sites: [], withheld: { organizations: false, sitesOf: new Set<string>() } };
  const options = { nowMs: 0, sinkHolds: () => false, redeliver: false, assumeMade: false };
  const [plan] = diffExports(model!, live, options).organizations;
  expect(plan?.sites.map(({ body }) => body)).toEqual([
    { name: "HQ", timezone: "America/Denver" },
    { name: "Depot", timezone: "Asia/Tokyo" },
  ]);
});
