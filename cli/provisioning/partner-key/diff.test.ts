import { expect, it } from "vitest";
import { readModel } from "../read-model.ts";
import { diffExports } from "./diff.ts";
import type { ExportedState } from "./read-live.ts";

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
