import { expect, it } from "vitest";
import { importFaults } from "./boundaries.ts";
import type { Room } from "./rules.ts";

const rooms: readonly Room[] = [
  { paths: ["server/http/"], owns: "", imports: ["server/db/", "server/audit/chain.ts"] },
  { paths: ["server/db/"], owns: "", imports: [], packages: ["kysely", "node:"] },
  { paths: ["server/audit/"], owns: "", imports: [] },
  { paths: ["scripts/"], owns: "", imports: "everything" },
];
const faultsOf = (texts: Record<string, string>) =>
  importFaults(
    rooms,
    Object.entries(texts).map(([path, text]) => ({ path, text })),
  );
const asAgreed = {
  "server/http/a.ts":
    'import { b } from "../db/b.ts";\nimport type { C } from "#server/audit/chain";\nimport "express";',
  "server/db/b.ts": 'import "kysely";\nimport "node:fs";\nimport "./own.ts";',
  "scripts/x.ts": 'import "../server/http/a.ts";\nimport "../server/db/b.ts";',
};

it("accepts the imports that the rules list, every import inside a room, and everything for tools", () => {
  expect(faultsOf(asAgreed)).toEqual([]);
});

it("refuses an import that the rules do not list: of a room, a file, a type, a package or a test", () => {
  const faults = (path: string, more: string) =>
    faultsOf({ ...asAgreed, [path]: `${asAgreed[path as keyof typeof asAgreed] ?? ""}\n${more}` });
  expect(faults("server/db/b.ts", 'import type { A } from "../http/a.ts";')).toEqual([
    expect.stringContaining("server/db/b.ts imports server/http/a.ts"),
  ]);
  expect(faults("server/http/a.ts", 'export { w } from "#server/audit/writer";')).toHaveLength(1);
  expect(faults("server/http/a.ts", 'const later = () => import("../audit/writer.ts");')).toHaveLength(1);
  expect(faults("server/db/b.ts", 'import "express";')).toEqual([expect.stringContaining("the package express")]);
  expect(faults("scripts/x.ts", 'import "./x.test.ts";')).toEqual([expect.stringContaining("imports a test")]);
});

it("refuses a file of no room, and an entry that nothing imports", () => {
  expect(faultsOf({ ...asAgreed, "server/new/a.ts": "" })).toEqual([expect.stringContaining("belongs to no room")]);
  const { "server/http/a.ts": _, ...without } = asAgreed;
  expect(faultsOf(without)).toEqual([
    expect.stringContaining("imports server/db/ no more"),
    expect.stringContaining("imports server/audit/chain.ts no more"),
  ]);
});
