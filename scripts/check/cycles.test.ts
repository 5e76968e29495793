import { expect, it } from "vitest";
import { ringsOf } from "./cycles.ts";
import { importsOf } from "./sources.ts";

const files = (texts: Record<string, string>) =>
  Object.entries(texts).flatMap(([path, text]) => importsOf({ path, text }));

it("finds cycles of values, of types, and of modules that are loaded later", () => {
  const value = files({ "a/x.ts": 'import { y } from "./y.ts";', "a/y.ts": 'export { x } from "./x.ts";' });
  expect(ringsOf(value)).toEqual(["a/x.ts → a/y.ts → a/x.ts"]);
  const types = files({ "a/x.ts": 'import { y } from "./y.ts";', "a/y.ts": 'import type { X } from "./x.ts";' });
  expect(ringsOf(types)).toEqual(["a/x.ts → a/y.ts → a/x.ts (types, or loaded later)"]);
  const later = files({ "a/x.ts": 'const y = () => import("./y.ts");', "a/y.ts": 'import { x } from "./x.ts";' });
  expect(ringsOf(later)).toEqual(["a/x.ts → a/y.ts → a/x.ts (types, or loaded later)"]);
  const spread = files({
    "cli/c.ts": 'import { a } from "./a.ts";',
    "cli/a.ts": 'type B = import("./b.ts").B;',
    "cli/b.ts": 'import {\n  type C,\n} from "#cli/c";',
  });
  expect(ringsOf(spread)).toEqual(["cli/a.ts → cli/b.ts → cli/c.ts → cli/a.ts (types, or loaded later)"]);
});

it("does not report a diamond", () => {
  const diamond = files({
    "a.ts": 'import "./b.ts";\nimport "./c.ts";',
    "b.ts": 'import "./d.ts";',
    "c.ts": 'import type { D } from "./d.ts";',
    "d.ts": 'import "zod";',
  });
  expect(ringsOf(diamond)).toEqual([]);
});
