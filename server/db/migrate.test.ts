import { expect, it } from "vitest";
import { migrations } from "../generated/migrations.ts";
import { toldOf } from "./migrate.ts";

it("the log names the migrations of an upgrade, and of an empty database how many and the last one", () => {
  const names = migrations.map(({ name }) => name);
  expect(toldOf(names)).toEqual({ count: names.length, last: names.at(-1) });
  const few = names.slice(-2);
  expect(toldOf(few)).toEqual({ count: 2, applied: few });
});
