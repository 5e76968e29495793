import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readAnswer } from "./read-answer.ts";

const shape = z.object({ pid: z.number() });
const read =
  (status: string, result: Record<string, unknown>, changes = false) =>
  () =>
    readAnswer({ status, result }, shape, changes);

describe("the answer of an agent", () => {
  it("is its data where it has the shape, without what is not in it", () => {
    expect(read("completed", { data: { pid: 7, more: true } })()).toEqual({ pid: 7 });
  });

  it.each([
    ["failed", { errorCode: "not_found" }, "NOT_FOUND", undefined],
    ["failed", { error: "Process NOT FOUND" }, "NOT_FOUND", undefined],
    ["failed", { errorCode: "protected" }, "FORBIDDEN", undefined],
    ["failed", { errorCode: "unsupported" }, "AGENT_ERROR", { errorCode: "unsupported", error: null }],
    [
      "failed",
      { error: `a\u202eb${"x".repeat(600)}` },
      "AGENT_ERROR",
      { errorCode: null, error: `a\ufffdb${"x".repeat(497)}` },
    ],
    ["completed", {}, "AGENT_BAD_RESPONSE", { paths: [""] }],
    ["completed", { data: { pid: "7" } }, "AGENT_BAD_RESPONSE", { paths: ["pid"] }],
    ["timeout", {}, "AGENT_TIMEOUT", undefined],
    ["cancelled", {}, "AGENT_TIMEOUT", undefined],
  ] as const)("%s %j is %s", (status, result, code, details) => {
    expect(read(status, result)).toThrow(expect.objectContaining({ code, options: details ? { details } : {} }));
  });

  it("is unverified where a change was claimed and nobody said how it ended, and only there", () => {
    expect(read("timeout", {}, true)).toThrow(expect.objectContaining({ options: { details: { unverified: true } } }));
    expect(read("cancelled", {}, true)).toThrow(expect.objectContaining({ options: {} }));
  });
});
