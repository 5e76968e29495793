import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stub, stubServer } from "#sdk/stub-server";
import { endpointFlags } from "./generic/endpoint-flags.ts";
import { fieldsOf } from "./generic/fields.ts";
import { isNamedInOrg } from "./generic/named-rows.ts";
import { refsOf, scopePlaceOf } from "./generic/refs-of.ts";
import { topSecrets } from "./generic/secret-fields.ts";
import type { GlobalFlag } from "./globals.ts";
import type { CommandSpec } from "./manifest.ts";
import { ids, orgs, sites } from "./test-api.ts";
import { ANY_ID, commandLine, specs, tokenFor } from "./test-commands.ts";
import { type Ran, testCommand } from "./test-shell.ts";

const command = testCommand();
const tokenFile = join(command.dir, "token.txt");
let stub: Stub;
let other: Stub;
let current: CommandSpec;
let slow = false;

/** Of a dynamic group. */
const filterConditions = {
  operator: "AND",
  conditions: [{ field: "osType", operator: "equals", value: "linux" }],
};

/** Entries on the first page of any list. */
let entries = 2;

function answer(path: string): unknown {
  const url = new URL(path, "http://stub");
  const at = url.pathname.replace("/api/v1", "");
  if (at === "/orgs" && current.path !== "/orgs") return { data: orgs };
  const pagination = { page: 1, limit: 50, total: 60 };
  if (at === "/orgs/sites" && !current.path.startsWith("/orgs/sites"))
    return { data: sites, pagination: { page: 1, limit: 100, total: 2 } };
  const called = sites.map((site) => ({ ...site, hostname: site.name, domain: site.name }));
  if (/^\/(devices|webhooks|custom-fields|sso\/(providers|domains))$/.test(at) && at !== current.path)
    return { data: called, devices: called, pagination: { page: 1, limit: 100, total: 2 }, nextCursor: null };
  if (at === "/devices/query" && at !== current.path)
    return { devices: called.map((one) => ({ ...one, orgId: ids.contoso })), nextCursor: null, limit: 500 };
  if (/^\/groups\/[^/]+$/.test(at) && current.path === "/groups/:id/preview")
    return { id: ANY_ID, orgId: ids.contoso, siteId: null, name: "It", type: "dynamic", filterConditions };
  if (url.searchParams.get("limit") === "100" && !current.paging)
    return { data: sites, pagination: { page: 1, limit: 100, total: 2 } };
  const one = Object.fromEntries(current.fields.map((name) => [name, `a ${name}`]));
  const row = { ...one, id: ANY_ID, slug: "slug-of-it", name: "It" };
  if (!current.paging) return row;
  const later = url.searchParams.get("page") !== null && url.searchParams.get("page") !== "1";
  return {
    [current.paging.items]: later ? [] : Array(entries).fill(row),
    pagination,
    hasMore: false,
    nextCursor: null,
  };
}

beforeAll(async () => {
  const open = () =>
    stubServer(async ({ path }) => {
      if (slow) await new Promise((resolve) => setTimeout(resolve, 60));
      return { body: answer(path) };
    });
  [stub, other] = [await open(), await open()];
  writeFileSync(tokenFile, "token-of-bo");
  await command.run(["profile", "add", "main", "--server", stub.url]);
  await command.run(["profile", "add", "other", "--server", other.url]);
});
afterAll(async () => {
  await Promise.all([stub.close(), other.close()]);
  command.close();
});

interface Seen extends Ran {
  requests: string[];
}

async function ran(argv: readonly string[], options: { tty?: boolean; stdin?: string | undefined }): Promise<Seen> {
  stub.seen.length = 0;
  other.seen.length = 0;
  const { stdin, tty = false } = options;
  const credential = tokenFor(current.access);
  const result = await command.run(argv, {
    env: { RMM_TOKEN: credential },
    ...(tty ? { tty, answers: [], columns: 24 } : {}),
    ...(stdin === undefined ? {} : { stdin }),
  });
  const requests = [
    ...[stub, other].flatMap((one) =>
      one.seen.map(({ method, path, headers, body }) => {
        const { authorization, "x-idempotency-key": key } = headers;
        return JSON.stringify([one.url, method, path, authorization, key, body]);
      }),
    ),
  ];
  return { ...result, requests };
}

interface Try {
  before: string[];
  after: string[];
  stdin?: string | undefined;
  tty?: boolean;
}

/** The command line without the argument or flag that a global flag stands for. */
function without(spec: CommandSpec, ref: "organization" | "site"): string[] {
  const place = scopePlaceOf(spec, ref);
  const { argv } = commandLine(spec);
  if (place === undefined) return argv;
  if (place.part === "params") {
    const at = 2 + spec.params.indexOf(place.name);
    return [...argv.slice(0, at), ...argv.slice(at + 1)];
  }
  const flag = fieldsOf(spec).find(({ spec: { name } }) => name === place.name)!.flag;
  const at = argv.indexOf(`--${flag}`);
  return at === -1 ? argv : [...argv.slice(0, at), ...argv.slice(at + 2)];
}

/** A row by its name, which rows of two organizations have. */
function withName(spec: CommandSpec): string[] {
  const place = refsOf(spec).find(({ ref }) => isNamedInOrg(ref))!;
  const { argv } = commandLine(spec);
  if (place.part === "params") return argv.with(2 + spec.params.indexOf(place.name), "HQ");
  const flag = fieldsOf(spec).find(({ spec: { name } }) => name === place.name)!.flag;
  const at = argv.indexOf(`--${flag}`);
  return at === -1 ? [...argv, `--${flag}`, "HQ"] : argv.with(at + 1, "HQ");
}

/** What `-f` takes of one entry, in place of everything else. */
function entry(spec: CommandSpec): object {
  const changed = spec.method === "PATCH" ? spec.body.filter(({ type }) => type === "string").slice(0, 1) : [];
  const given = [...spec.body.filter(({ required }) => required), ...changed];
  const body = Object.fromEntries(given.map(({ name }) => [name, ANY_ID]));
  return { ...Object.fromEntries(spec.params.map((name) => [name, ANY_ID])), ...body };
}

/** Two runs that may differ by the flag alone. */
function tryOf(spec: CommandSpec, flag: GlobalFlag): Try {
  const { argv, stdin } = commandLine(spec);
  const plain = { before: argv, stdin };
  const add = (...more: string[]): Try => ({ ...plain, after: [...argv, ...more] });
  const field = topSecrets(spec)[0] ?? spec.fields[0] ?? "id";
  const list = ["-f", "-", ...(spec.loses === "nothing" ? [] : ["--yes"])];
  const asList = { stdin: JSON.stringify([entry(spec)]), before: [spec.noun, spec.name, ...list] };
  const scoped = (ref: "organization" | "site", more: string[]): Try => {
    const before = scopePlaceOf(spec, ref) ? without(spec, ref) : withName(spec);
    return { stdin, before, after: [...before, ...more] };
  };
  switch (flag) {
    case "json=":
      return { stdin, before: [...argv, "--json"], after: [...argv, `--json=${field}`] };
    case "jq":
      return add("--jq", "[.. | scalars]");
    case "columns":
      return { ...add("--columns", field), tty: spec.fields.length > 1 };
    case "no-header":
      return spec.paging
        ? { ...add("--no-header"), tty: true }
        : { ...asList, after: [...asList.before, "--no-header"], tty: true };
    case "wide":
      return spec.paging
        ? { ...add("--wide"), tty: true }
        : { ...asList, after: [...asList.before, "--wide"], tty: true };
    case "server":
      return add("--server", other.url);
    case "profile":
      return add("--profile", "other");
    case "org":
      return scoped("organization", ["--org", "contoso-dental"]);
    case "site":
      return scoped("site", ["--site", ids.hq]);
    case "token-file":
      return add("--token-file", tokenFile);
    case "token-stdin":
      return { ...add("--token-stdin"), stdin: stdin ?? "token-of-bo" };
    case "limit":
      return add("--limit", "1");
    case "timeout":
      return add("--timeout", "1ms");
    case "insecure-http": {
      const before = [...argv, "--server", "http://10.0.0.5", "--timeout", "5ms"];
      return { stdin, before, after: [...before, "--insecure-http"] };
    }
    case "idempotency-key":
      return add("--idempotency-key", "key-of-mine");
    case "confirm": {
      if (spec.loses === "tenant") return { before: argv.filter((one) => !one.startsWith("--confirm")), after: argv };
      const two = { stdin: JSON.stringify([entry(spec), entry(spec)]), before: [spec.noun, spec.name, ...list] };
      return { ...two, after: [...two.before, "--confirm=2"] };
    }
    default:
      return add(`--${flag}`);
  }
}

describe("a global flag that an endpoint's command takes", () => {
  it("has an effect, on every command", async () => {
    let seen = 0;
    const idle: string[] = [];
    for (const [index, spec] of (await specs()).entries()) {
      if (spec.noun === "users" && spec.name === "accept-invite") continue;
      current = spec;
      // Most flags are added to the same plain run.
      const known = new Map<string, Seen>();
      for (const [place, flag] of endpointFlags(spec).entries()) {
        // Each command tries every other flag, the next one the others; all of them in `npm run prove -- meta`.
        if (process.env["PROVE"] === undefined && (index + place) % 2 === 1) continue;
        // The one field that there is is the whole answer.
        if (["json=", "columns"].includes(flag) && spec.fields.length === 1) continue;
        const { before, after, stdin, tty } = tryOf(spec, flag);
        const options = { stdin, ...(tty === undefined ? {} : { tty }) };
        // More than the fifty that are shown.
        entries = flag === "limit" || flag === "all" ? 60 : 2;
        const key = JSON.stringify([before, options, entries]);
        const one = known.get(key) ?? (await ran(before, options));
        known.set(key, one);
        // Without the flag a slow server makes no difference.
        slow = flag === "timeout";
        const two = await ran(after, options);
        slow = false;
        const name = `${after.join(" ")}\n${two.stderr}`;
        expect(two.stderr, name).not.toContain("does not take");
        if (isDeepStrictEqual(one, two)) idle.push(name);
        if (flag === "dry-run") expect(two, name).toMatchObject({ code: 0, requests: [] });
        seen++;
      }
    }
    expect(idle).toEqual([]);
    expect(seen).toBeGreaterThan(700);
  }, 300_000);
});
