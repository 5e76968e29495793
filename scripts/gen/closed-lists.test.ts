import { expect, it } from "vitest";
import { closedLists } from "./closed-lists.ts";

it("a kind of row is declared by one noun, and no longer awaited once it is", () => {
  const noun = { name: "things", summary: "Things", audits: [] };
  const one = { ...noun, kinds: { thing: {} } };
  const other = { ...noun, name: "others" };
  expect(() => closedLists([one, { ...other, kinds: { thing: {} } }])).toThrow("is declared by things and by others");
  expect(() => closedLists([one, { ...other, awaits: { thing: "none yet" } }])).toThrow(
    "others awaits thing, which things has",
  );
  const [refs = ""] = [...closedLists([one, { ...other, awaits: { gadget: "none yet" } }]).values()];
  expect(refs).toContain('"thing": "things",');
  expect(refs).toContain('"gadget": "none yet",');
});

it("an audit action of several nouns stands in the list once", () => {
  const noun = { name: "things", summary: "Things", audits: ["thing.create", "thing.delete"] };
  const [, actions = ""] = [...closedLists([noun, { ...noun, name: "others", audits: ["thing.delete"] }]).values()];
  expect(actions.match(/"thing\.\w+",/g)).toEqual(['"thing.create",', '"thing.delete",']);
});
