import { describe, expect, it } from "vitest";
import { citationFaultsIn } from "./citations.ts";

const tree: Readonly<Record<string, string>> = {
  "server/docs/keys.md": '# Keys\n\nRule, see "Rate limit".\n\n## Rate limit\n\n## Key\'s life, once\n',
  "server/README.md": "# The server\n\n## Settings\n",
};
const faultsOf = (text: string, path = "server/a.ts") => citationFaultsIn({ path, text }, (page) => tree[page]);

describe("citations", () => {
  it.each([
    '/** Counted (docs/keys.md, "Rate limit"). */',
    '/**\n * Counted by the hour\n * (docs/keys.md, "Rate\n * limit").\n */',
    '// See docs/keys.md and server/README.md, "Settings".',
    "/** The tree of RFC 9162 §2.1.1. */",
    "/** Schemas of the contract; the 3rd one of two. */",
  ])("accepts %j", (text) => {
    expect(faultsOf(text)).toEqual([]);
  });

  it.each([
    ["/** Sealed (contract 4 §8.1). */", "contract 4"],
    ['/** Keys (specification 2, "API key"). */', "specification 2"],
    ["/** As the specification says. */", "the specification"],
    ["/** The one exit (design, lock 5). */", "(design,"],
    ["/** One object (design §3). */", "design §"],
    ["/** One way in (§6.2). */", "§"],
    ["/** As chapter 4 has it. */", "chapter 4"],
    ["/** Left to issue 12. */", "issue 12"],
  ])("refuses %j: the document is not in the tree", (text, cited) => {
    expect(faultsOf(text)).toContain(`server/a.ts:1 cites a document that is not in the tree: ${cited}`);
  });

  it("refuses a page and a heading that do not exist, and says where", () => {
    expect(faultsOf('\n/** (docs/none.md, "Rate limit") */')).toContain(
      "server/a.ts:2 cites server/docs/none.md, which does not exist",
    );
    expect(faultsOf('/** (docs/keys.md, "Rate limits") */')).toEqual([
      'server/a.ts:1 cites "Rate limits", which is no heading of server/docs/keys.md',
    ]);
  });

  it("checks links and the headings behind them in Markdown", () => {
    const page = "server/docs/other.md";
    expect(faultsOf('[keys](keys.md), "Rate limit" and [life](keys.md#keys-life-once)', page)).toEqual([]);
    expect(faultsOf('[keys](keys.md), "Limit"', page)).toHaveLength(1);
    expect(faultsOf("[life](keys.md#life)", page)).toHaveLength(1);
    expect(faultsOf("[gone](gone.md)", page)).toHaveLength(1);
    expect(faultsOf('Counted, see "Nowhere".', page)).toHaveLength(1);
    expect(faultsOf(tree["server/docs/keys.md"] ?? "", "server/docs/keys.md")).toEqual([]);
  });
});
