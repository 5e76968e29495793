import { describe, expect, it } from "vitest";
import { secretPaths } from "./looks-secret.ts";

describe("texts that look like secrets", () => {
  it.each([
    "-----BEGIN RSA PRIVATE KEY-----",
    `key: svc_${"a".repeat(32)}`,
    `svc_sp_${"a".repeat(43)}`,
    `Authorization: Bearer ${"a".repeat(24)}`,
    "AKIAIOSFODNN7EXAMPLE",
    "login x password=hunter2",
    "PWD = hunter2",
  ])("%s is one", (text) => expect(secretPaths({ name: text })).toEqual(["name"]));

  it.each(["svc_host", "Bearer of bad news", "forgot my password", "BEGIN HERE", "AKIA", "password policy = strict?"])(
    "%s is none",
    (text) => expect(secretPaths({ name: text })).toEqual([]),
  );

  it("names every place, however deep", () => {
    const bad = "password=x";
    expect(secretPaths({ a: { b: [null, 1, bad] }, c: bad, d: "fine" })).toEqual(["a.b[2]", "c"]);
  });
});
