import { expect, it } from "vitest";
import { importServed, threads } from "./bundle-server.ts";
import { isTest, sources } from "./check/sources.ts";

it("bundles the script of every thread", () => {
  const scripts = sources().filter(({ path, text }) => !isTest(path) && /^import .*\bparentPort\b/m.test(text));
  expect(threads).toEqual(scripts.map(({ path }) => path).sort());
});

it("the command imports the bundled server, and other modules as they are", () => {
  expect(importServed('await import("#server/main"),import(`#server/doctor`),import("#server/audit/chain")')).toBe(
    'await import("../served/main.js"),import("../served/doctor.js"),import("#server/audit/chain")',
  );
});
