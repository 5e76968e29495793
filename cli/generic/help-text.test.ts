import { expect, it } from "vitest";
import type { CommandSpec } from "../manifest.ts";
import { specs } from "../test-commands.ts";
import { leaves } from "../test-leaves.ts";
import { accessOf, examplesOf } from "./help-text.ts";

const all = await specs();
const spec = (noun: string, name: string) => all.find((one) => one.noun === noun && one.name === name) as CommandSpec;

it("names the events that a command emits, and no row of events for one that emits none", () => {
  expect(accessOf(spec("sites", "list"))).not.toContain("Events:");
  const told = { emits: ["site.created", "site.updated"], mayEmit: ["site.deleted"] } as const;
  expect(accessOf({ ...spec("sites", "create"), ...told })).toMatch(
    /^Events: +site\.created, site\.updated, site\.deleted \(in some cases\)$/m,
  );
});

it("says who has no access by scope: who is confined, and who has no partner", () => {
  expect(accessOf(spec("partner-service-principals", "create"))).toMatch(/^Scope: .*\(access to all organizations\)$/m);
  expect(accessOf(spec("login-branding", "get"))).toMatch(/^Scope: .*\(members of a partner\)$/m);
});

it("shows the confirmation that a command needs in its example", () => {
  const example = (noun: string, name: string) => examplesOf(spec(noun, name)).split("\n")[1];
  expect(example("partner-service-principals", "rotate-key")).toMatch(/ --yes$/);
  expect(example("organizations", "remove")).toMatch(/ --confirm=contoso-dental$/);
  expect(example("sites", "get")).toBe("  rmm sites get HQ");
  expect(example("sites", "create")).toBe("  rmm sites create --org contoso-dental --name HQ");
});

it("gives in its example what a request without it is refused for, though each such field may be left out", () => {
  for (const name of ["create", "preview"])
    expect(examplesOf(spec("pam-rules", name)).split("\n")[1]).toContain(' --match-signer "Contoso Ltd"');
  const fields = (one: CommandSpec) => [...one.query, ...one.body].map(({ name }) => name);
  for (const one of all) expect(fields(one)).toEqual(expect.arrayContaining([...(one.inExample ?? [])]));
});

it("has an example of the contract for every text that must be given", () => {
  const named = (one: CommandSpec) => `${one.noun} ${one.name}`;
  const bare = all.flatMap((one) => [
    ...[...one.query, ...one.body]
      .filter(({ required, type, format, ref, secret }) => required && type === "string" && !format && !ref && !secret)
      .filter(({ example }) => example === undefined)
      .map(({ name }) => `${named(one)} ${name}`),
    ...one.params
      .filter((name) => one.refs[name] === "opaque" && !one.examples[name])
      .map((name) => `${named(one)} ${name}`),
  ]);
  expect(bare).toEqual([]);
  expect(examplesOf(spec("processes", "kill"))).toContain(" 4711 ");
});

it("says of conditions and --where that one stands for the other, and where one of both must be given", async () => {
  const pairs = (await leaves()).flatMap(({ path, command }) => {
    const described = (long: string) => command.options.find((one) => one.long === long)?.description;
    const flag = ["--conditions", "--filter-conditions"].find((long) => described(long) !== undefined);
    const where = described("--where");
    if (flag === undefined && where === undefined) return [];
    return [{ line: path.join(" "), flag, conditions: flag && described(flag), where }];
  });
  const mustHave: string[] = [];
  for (const { line, flag, conditions, where } of pairs) {
    if (flag === undefined) continue;
    const isRequired = conditions?.includes("this or --where is required") === true;
    expect(conditions, line).toContain(isRequired ? "(this or --where is required)" : "(or --where)");
    expect(conditions, line).not.toContain("(required)");
    expect(where, line).toContain(isRequired ? `(this or ${flag} is required)` : `(or ${flag})`);
    if (isRequired) mustHave.push(line);
  }
  expect(mustHave.sort()).toEqual([
    "devices query",
    "saved-filters create",
    "saved-filters explain",
    "saved-filters preview",
  ]);
  expect(pairs.find(({ line }) => line === "saved-filters save")?.where).toContain("(required)");
});
