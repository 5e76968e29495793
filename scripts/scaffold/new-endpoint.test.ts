import { expect, it } from "vitest";
import { areaOfNoun, contract } from "#contract/index";
import { TreeEdit } from "./edit-tree.ts";
import { kebabOf } from "./names.ts";
import { addEndpoint } from "./new-endpoint.ts";

const nouns = Object.keys(contract).map(kebabOf);

/** The statement that begins so, without the line that ends it. */
const statement = (text: string, start: string) => text.split(start)[1]?.split(/^\}\)?;$/m, 1)[0];

it.each(nouns)("an endpoint of %s stands in its resource, its routes and its examples", (noun) => {
  const tree = new TreeEdit(".");
  const area = areaOfNoun(noun);
  addEndpoint(tree, { method: "POST", path: `/${noun}/dust-off`, noun, verb: "dustOff", summary: "Dust it off" });
  const entries = tree.text(`sdk/contract/resources/${area}/${noun}.ts`);
  const fixtures = tree.text(`fixtures/nouns/${area}/${noun}.ts`);
  expect(statement(entries, " = resource(")).toContain("dustOff: post(");
  expect(statement(tree.text(`server/features/${area}/${noun}/routes.ts`), "export const routes")).toContain(
    "dustOff:",
  );
  expect(statement(fixtures, "export const examples")).toContain("dustOff: noRequest");
  expect(fixtures).toMatch(/import \{[^}]*\bnoRequest\b[^}]*\} from "..\/..\/example.ts"/);
  const [, action] = /audit: "(\w+\.dust_off)"/.exec(entries) ?? [];
  expect(entries).toMatch(new RegExp(`audits: \\[[^\\]]*"${action}"`));
});
