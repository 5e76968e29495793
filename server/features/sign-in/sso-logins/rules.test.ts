import { describe, expect, it } from "vitest";
import { readProfile } from "./profile.ts";
import { isAllowedDomain, safeRedirect } from "./rules.ts";

describe("where a sign-in may end", () => {
  it.each([
    ["/", "/"],
    ["/devices?status=online&q=a%20b", "/devices?status=online&q=a%20b"],
    ["/a#fragment", "/a"],
    ["/a/../b", "/b"],
    ["/.//evil.example", "/"],
    ["/a/..//evil.example", "/"],
    ["//evil.example", "/"],
    ["/\\evil.example", "/"],
    ["/a\\b", "/"],
    ["\\\\evil.example", "/"],
    ["https://evil.example", "/"],
    ["javascript:alert(1)", "/"],
    ["devices", "/"],
    [" /devices", "/"],
    ["/dev\tices", "/"],
    ["/dev\r\nSet-Cookie: a=b", "/"],
    ["/é", "/"],
    [`/${"a".repeat(2_000)}`, "/"],
    ["", "/"],
    [undefined, "/"],
    // A redirect takes the code in the fragment with it to the identity provider of another tenant.
    ["/api/v1/sso/login/0197-of-the-attacker", "/"],
    ["/api/v1/sso/login/partner/0197", "/"],
    ["/x/../api/v1/sso/login/0197", "/"],
    ["/%61pi/v1/sso/login/0197", "/"],
    ["/API/v1/sso/login/0197", "/"],
    ["/x/..%2fapi/v1/sso/login/0197", "/"],
    ["/x//../../api/v1/sso/login/0197", "/"],
    ["/x//y", "/"],
    ["/api/v1/sso/cli/../login/0197", "/"],
    ["/api", "/"],
    ["/apis", "/apis"],
    ["/devices/api?next=/api/v1", "/devices/api?next=/api/v1"],
    ["/api/v1/sso/cli?port=4000&state=abc", "/api/v1/sso/cli?port=4000&state=abc"],
  ])("%j becomes %j", (given, wanted) => expect(safeRedirect(given)).toBe(wanted));
});

it.each([
  [null, "any.example", true],
  ["", "any.example", true],
  [" , ", "any.example", true],
  ["a.example, B.example", "b.example", true],
  ["a.example", "sub.a.example", false],
  ["a.example", "b.example", false],
  ["münchen.example", "xn--mnchen-3ya.example", true],
])("allowed domains %j hold %j: %j", (allowed, domain, wanted) =>
  expect(isAllowedDomain(allowed, domain)).toBe(wanted),
);

describe("a profile", () => {
  const mapping = { email: "email", name: "name", firstName: "given_name", lastName: "family_name" };
  const told = (userInfo: object, idToken: object = {}, map: object = mapping) =>
    readProfile(idToken as never, userInfo as never, map as never);
  const read = (...given: Parameters<typeof told>) => {
    const profile = told(...given);
    return typeof profile === "string" ? undefined : profile;
  };

  it("takes UserInfo first, the ID token where that is silent, and builds a name from its parts", () => {
    expect(read({ email: "A@X.example", name: " Ann " }, { name: "Other" })).toMatchObject({
      email: "a@x.example",
      domain: "x.example",
      name: "Ann",
    });
    expect(read({ email: "a@x.example" }, { name: "Ann" })?.name).toBe("Ann");
    expect(read({ email: "a@x.example", given_name: "Ann", family_name: "Lee" })?.name).toBe("Ann Lee");
    expect(read({ email: "a@x.example", family_name: "Lee" })?.name).toBe("Lee");
    expect(read({ email: "a@x.example" })?.name).toBe("a@x.example");
  });

  it.each([
    [undefined, "email_missing"],
    ["", "email_missing"],
    [5, "email_missing"],
    [[], "email_missing"],
    [[5], "email_missing"],
    ["none", "email_invalid"],
    ["a@x.example, b@x.example", "email_invalid"],
    ["a@x", "email_invalid"],
    [["mi\u212Ae@x.example"], "email_invalid"],
    [["a@x.example", "b@x.example"], "email_several"],
  ])("has no address in %j, and says why: %s", (email, reason) => expect(told({ email })).toBe(reason));

  it("takes the address of a list that holds one", () => {
    expect(read({ email: ["A@x.example"], email_verified: "true" })).toMatchObject({
      email: "a@x.example",
      emailVerified: true,
    });
    expect(told({ email: "a@x.example" }, { email: ["a@x.example", "b@x.example"] })).toBe("email_several");
  });

  it.each(["mi\u212Ae@x.example", "mike\u0000@x.example", "mike\ud800@x.example", "mike@x.exam\u0000ple"])(
    "does not turn %j into another person's address",
    (email) => {
      expect(read({ email, email_verified: true })).toBeUndefined();
      expect(read({}, { email, email_verified: true })).toBeUndefined();
    },
  );

  it("reads no claim that the provider did not send", () => {
    expect(read({ email: "a@x.example" }, {}, { ...mapping, email: "constructor" })).toBeUndefined();
    expect(read({ email: "a@x.example" }, {}, { ...mapping, name: "toString" })?.name).toBe("a@x.example");
  });

  const verified = (userInfo: object, idToken: object = {}, map: object = mapping) =>
    read(userInfo, idToken, map)?.emailVerified;
  it.each([
    [true, true],
    ["true", true],
    [" TRUE ", true],
    [false, false],
    ["false", false],
    ["False", false],
    ["yes", undefined],
    [1, undefined],
    [0, undefined],
    [null, undefined],
    ["", undefined],
  ])("reads email_verified %j as %j", (value, wanted) =>
    expect(verified({ email: "a@x.example", email_verified: value })).toBe(wanted),
  );

  it("believes 'verified' of the very address alone, and 'not verified' wherever it stands", () => {
    const email = "a@x.example";
    expect(verified({ email, email_verified: true }, { email, email_verified: false })).toBe(false);
    expect(verified({ email }, { email: "A@x.example", email_verified: true })).toBe(true);
    expect(verified({ email }, { email: "b@x.example", email_verified: true })).toBeUndefined();
    expect(verified({ email }, { email_verified: true })).toBeUndefined();
    expect(
      verified({ upn: email, email: "b@x.example", email_verified: true }, {}, { ...mapping, email: "upn" }),
    ).toBeUndefined();
    expect(
      verified({ upn: email, email: "b@x.example", email_verified: false }, {}, { ...mapping, email: "upn" }),
    ).toBe(false);
  });
});
