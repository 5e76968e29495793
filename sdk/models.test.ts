import { readdirSync, readFileSync } from "node:fs";
import { expect, expectTypeOf, test } from "vitest";
import type { Contract } from "#contract/index";
import type { ApiCall, ListCall } from "./call.ts";
import type { Methods } from "./generated/methods.ts";
import { createClient, type EnrollmentKeyWithSecret, isErrorOf, type Organization } from "./index.ts";

/** What a method takes and answers. */
type InputOf<M> = M extends (input: infer I, ...rest: never) => unknown ? NonNullable<I> : never;
type ResultOf<M> = M extends (...args: never) => infer A
  ? A extends ListCall<unknown, infer R>
    ? R
    : A extends ApiCall<infer R>
      ? R
      : never
  : never;
type Part<I, Name extends string> = Name extends keyof I ? NonNullable<I[Name]> : undefined;

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Fits<A, B> = [A] extends [B] ? true : false;
/** A published body may be narrower than its schema, and a query accepts numbers and dates besides strings. */
type Agrees<T, M> = T extends { bodyInput: infer B; queryInput: infer Q; result: infer R }
  ? [Same<R, ResultOf<M>>, Fits<Part<InputOf<M>, "body">, B>, Fits<Q, Part<InputOf<M>, "query">>]
  : never;
type Types<E> = E extends { readonly types?: infer T } ? NonNullable<T> : never;

/** Every endpoint whose interfaces and schemas say different things. */
type Disagreements = {
  [N in keyof Contract]: {
    [V in keyof Contract[N]]: Agrees<Types<Contract[N][V]>, Methods[N][V & keyof Methods[N]]> extends [true, true, true]
      ? never
      : [N, V, Agrees<Types<Contract[N][V]>, Methods[N][V & keyof Methods[N]]>];
  }[keyof Contract[N]];
}[keyof Contract];

test("the interfaces of the SDK are what the schemas of the contract read", () => {
  expectTypeOf<Disagreements>().toBeNever();
});

test("models are named, and a method answers with them", () => {
  const rmm = createClient({ baseUrl: "http://x" });
  expectTypeOf<Awaited<ReturnType<typeof rmm.organizations.get>>>().toEqualTypeOf<Organization>();
  expectTypeOf<EnrollmentKeyWithSecret["key"]>().toBeString();
  expectTypeOf<Organization["status"]>().extract<"trial">().toEqualTypeOf<"trial">();
});

const folder = new URL("./generated/models/", import.meta.url);
const models = readdirSync(folder)
  .map((name) => readFileSync(new URL(name, folder), "utf8"))
  .join("\n");
const fieldOf = (model: string, field: string) =>
  new RegExp(`export interface ${model} \\{[\\s\\S]*?(/\\*\\*[^\\n]*\\*/)\\n  ${field}\\??:`).exec(models)?.[1];

test("a field says its meaning, its limits and its default", () => {
  expect(fieldOf("OrganizationsCreateBody", "name")).toBe("/** Display name; 1 to 255 characters. */");
  expect(fieldOf("OrganizationsCreateBody", "status")).toBe('/** Status to begin in; default `"active"`. */');
  expect(fieldOf("OrganizationsCreateBody", "contractEnd")).toContain("default `null`");
  expect(fieldOf("OrganizationsListQuery", "limit")).toBe("/** Entries of a page; 1 to 100; default `50`. */");
  expect(fieldOf("OrganizationsListQuery", "partnerId")).toBe("/** Only those of this partner; id of a partner. */");
  expect(fieldOf("EnrollmentKeyWithSecret", "key")).toMatch(/secret/i);
});

test("an operation's error codes are known by the type check", () => {
  const error: unknown = undefined;
  if (isErrorOf("organizations.create", error)) {
    expectTypeOf<(typeof error)["code"]>().extract<"SLUG_TAKEN">().toEqualTypeOf<"SLUG_TAKEN">();
    expectTypeOf<(typeof error)["code"]>().extract<"MFA_REQUIRED">().toEqualTypeOf<"MFA_REQUIRED">();
    expectTypeOf<(typeof error)["code"]>().extract<"SITE_NOT_EMPTY">().toBeNever();
  }
  // @ts-expect-error there is no such operation
  expect(isErrorOf("organizations.explode", error)).toBe(false);
});
