import { describe, expect, it } from "vitest";
import { type KnownContact, matchByName, matchContacts } from "./match.ts";
import type { FileContact } from "./model.ts";

const file = (fields: Partial<FileContact>): FileContact => ({ line: 1, path: "c", lines: {}, ...fields });
const live = (id: string, fields: Partial<KnownContact>): KnownContact => ({
  id,
  name: null,
  email: null,
  phone: null,
  mobile: null,
  siteName: null,
  ...fields,
});
const ids = (files: FileContact[], lives: KnownContact[]) => {
  const { pairs, rest, conflicts } = matchContacts(files, lives);
  return { pairs: pairs.map((pair) => pair.live?.id), rest: rest.map(({ id }) => id), conflicts: conflicts.length };
};

describe("matching contacts", () => {
  it("goes by email whatever the name became", () => {
    expect(
      ids(
        [file({ name: "Ana R.", email: "ana@x.example" })],
        [live("1", { name: "Ana Ruiz", email: "ana@x.example" })],
      ),
    ).toEqual({
      pairs: ["1"],
      rest: [],
      conflicts: 0,
    });
  });

  it("tells people apart who share a mailbox", () => {
    const shared = { email: "info@x.example" };
    const lives = [live("1", { ...shared, name: "A" }), live("2", { ...shared, name: "B" })];
    expect(ids([file({ ...shared, name: "B" }), file({ ...shared, name: "A" })], lives).pairs).toEqual(["2", "1"]);
    expect(ids([file({ ...shared, name: "B" })], lives)).toEqual({ pairs: ["2"], rest: ["1"], conflicts: 0 });
    expect(ids([file({ ...shared, name: "A2" }), file({ ...shared, name: "B" })], lives).pairs).toEqual(["1", "2"]);
    expect(ids([file({ ...shared, name: "C" })], lives)).toMatchObject({ pairs: [undefined], conflicts: 1 });
  });

  it("finds a contact by name when its email changed, and never takes one that another entry has", () => {
    const lives = [
      live("1", { name: "Ana", email: "old@x.example" }),
      live("2", { name: "Ana", email: "ana@x.example" }),
    ];
    expect(
      ids([file({ name: "Ana", email: "new@x.example" }), file({ name: "Ana", email: "ana@x.example" })], lives).pairs,
    ).toEqual(["1", "2"]);
    expect(ids([file({ name: "Ana", email: "third@x.example" })], lives)).toMatchObject({
      pairs: [undefined],
      conflicts: 0,
    });
  });

  it("lets the site decide between namesakes, and calls the rest ambiguous", () => {
    const lives = [live("1", { name: "Ana", siteName: "HQ" }), live("2", { name: "ANA ", siteName: "Lab" })];
    expect(ids([file({ name: "Ana", site: "lab" })], lives)).toEqual({ pairs: ["2"], rest: ["1"], conflicts: 0 });
    expect(ids([file({ name: "Ana" })], lives)).toMatchObject({ pairs: [undefined], conflicts: 1 });
    expect(ids([file({ name: "Ana", site: "HQ" }), file({ name: "Ana", site: "Lab" })], lives).pairs).toEqual([
      "1",
      "2",
    ]);
  });

  it("knows the nameless by their number", () => {
    expect(ids([file({ phone: "+1 2" })], [live("1", { phone: "+1 2" }), live("2", { phone: "+1 3" })])).toEqual({
      pairs: ["1"],
      rest: ["2"],
      conflicts: 0,
    });
  });
});

describe("matching by name", () => {
  const entry = (name: string) => ({ line: 7, path: "s", lines: {}, name });

  it("ignores case, prefers the exact spelling and names the candidates of an ambiguous one", () => {
    expect(matchByName([entry("hq")], [{ id: "1", name: "HQ" }], "sites").pairs[0]!.live?.id).toBe("1");
    const two = [
      { id: "1", name: "Hq" },
      { id: "2", name: "HQ" },
    ];
    expect(matchByName([entry("HQ")], two, "sites")).toMatchObject({
      pairs: [{ live: { id: "2" } }],
      rest: [{ id: "1" }],
      conflicts: [],
    });
    expect(matchByName([entry("hq")], two, "sites").conflicts).toEqual([
      { line: 7, path: "s", message: "the server has 2 sites named hq: 1, 2; rename or remove one" },
    ]);
  });
});
