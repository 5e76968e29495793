import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type AnyEndpoint, nounOf, type Resource, resource } from "./core/endpoint.ts";
import { isErrorCode } from "./core/errors.ts";
import { permissions } from "./core/permissions.ts";
import { areaOf } from "./generated/table.ts";
import { allEndpoints, contract } from "./index.ts";
import { alternatives, type JsonSchema, jsonSchemaOf } from "./json-schema.ts";

const endpoints = allEndpoints();
const label = (endpoint: AnyEndpoint) => `${endpoint.noun}.${endpoint.verb}`;
const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const route = (endpoint: AnyEndpoint) => `${endpoint.method} ${endpoint.path.replace(/:[A-Za-z]+/g, ":")}`;
const asPattern = (path: string) => new RegExp(`^${path.replace(/\./g, "\\.").replace(/:[A-Za-z]+/g, "[^/]+")}$`);

/** Every schema node below one, with the path that leads to it. */
function* walk(schema: z.ZodType | undefined, path = ""): Generator<{ path: string; schema: z.ZodType }> {
  if (schema === undefined) return;
  yield { path, schema };
  if (schema instanceof z.ZodObject) {
    for (const [key, child] of Object.entries(schema.shape)) yield* walk(child as z.ZodType, `${path}.${key}`);
  } else if (schema instanceof z.ZodArray) yield* walk(schema.element as z.ZodType, `${path}[]`);
  else if (schema instanceof z.ZodUnion) for (const option of schema.options) yield* walk(option as z.ZodType, path);
  else if ("unwrap" in schema) yield* walk((schema.unwrap as () => z.ZodType)(), path);
}

/** Every uuid below a JSON Schema, with the kind of row it names. */
function* idsIn(schema: JsonSchema, path = ""): Generator<{ path: string; ref: string | undefined }> {
  if (schema.format === "uuid") yield { path, ref: schema["x-ref"] };
  for (const branch of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) yield* idsIn(branch, path);
  for (const [key, child] of Object.entries(schema.properties ?? {})) yield* idsIn(child, `${path}.${key}`);
  if (schema.items !== undefined) yield* idsIn(schema.items, `${path}[]`);
}

const isSecret = (schema: z.ZodType): boolean =>
  [...walk(schema)].some((node) => (node.schema.meta() as { secret?: boolean } | undefined)?.secret === true);

describe("the contract", () => {
  test("no two endpoints share method and path", () => {
    const routes = endpoints.map(route);
    expect(routes.filter((value, index) => routes.indexOf(value) !== index)).toEqual([]);
  });

  test("no literal path is shadowed by a parameter that is mounted before it", () => {
    const shadowed = endpoints.flatMap((later, index) =>
      endpoints
        .slice(0, index)
        .filter((earlier) => earlier.method === later.method && earlier.path.includes(":"))
        .filter((earlier) => asPattern(earlier.path).test(later.path.replace(/:[A-Za-z]+/g, "x")))
        .filter((earlier) => route(earlier) !== route(later))
        .map((earlier) => `${label(later)} by ${label(earlier)}`),
    );
    expect(shadowed).toEqual([]);
  });

  const readers = ["users.previewInvite", "sso-logins.discover"];

  test("every endpoint that is not a GET names an audit action or says why it has none", () => {
    for (const endpoint of endpoints.filter((one) => one.method !== "GET")) {
      const { audit } = endpoint;
      const said = typeof audit === "string" ? audit : audit.none;
      expect(said.length, label(endpoint)).toBeGreaterThan(4);
      if (typeof audit !== "string" && audit.none === "reads only") expect(readers).toContain(label(endpoint));
    }
  });

  test("each file holds one noun of its own name, and the table holds every file", async () => {
    const folder = fileURLToPath(new URL("resources/", import.meta.url));
    const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".ts"));
    const nouns = Object.entries(contract).map(([key, verbs]) => {
      for (const endpoint of Object.values<AnyEndpoint>(verbs)) expect(endpoint.noun).toBe(kebab(key));
      return `${areaOf[key as keyof typeof areaOf]}/${kebab(key)}.ts`;
    });
    expect(nouns.toSorted()).toEqual(files.toSorted());
  });

  test("a noun names the audit actions of its endpoints", () => {
    for (const verbs of Object.values(contract)) {
      const { name, audits } = nounOf(verbs);
      const written = Object.values<AnyEndpoint>(verbs).flatMap(({ audit }) =>
        typeof audit === "string" ? audit : [],
      );
      expect(
        written.filter((action) => !audits.includes(action)),
        name,
      ).toEqual([]);
      expect(new Set(audits).size, name).toBe(audits.length);
    }
  });

  test("audit actions begin with the word of a noun, of a kind of row or of signing in", () => {
    const nouns = Object.values(contract).map((verbs) => nounOf(verbs));
    const own = nouns.flatMap(({ name, kinds = {} }) => [name, name.replace(/s$/, ""), ...Object.keys(kinds)]);
    const words = new Set([...own.map((word) => word.replaceAll("-", "_")), "auth", "sso"]);
    // The record calls a saved filter so, whether it is saved or tried, a configuration policy plainly a policy, and names
    // what is about elevated rights together; calls of tools by their protocol.
    for (const word of ["partner_service_principal_key", "filter", "policy", "pam", "mcp"]) words.add(word);
    for (const { name, audits } of nouns)
      for (const action of audits) expect(words, name).toContain(action.slice(0, action.indexOf(".")));
  });

  test("what a noun says of the rows it lists is so", () => {
    for (const verbs of Object.values(contract)) {
      const { name, kinds = {} } = nounOf(verbs);
      for (const [kind, { names = [], label: told, listedBy = "list", within, searched }] of Object.entries(kinds)) {
        const list = (verbs as Resource)[listedBy];
        expect(list?.paging, `${name} lists no ${kind}`).toBeDefined();
        const paths = [...walk(list?.schemas().result)].map(({ path }) => path);
        const at = `.${list?.paging?.items}[]${within === undefined ? "" : `.${within}[]`}`;
        for (const field of ["id", ...names, ...(told === undefined ? [] : [told])])
          expect(paths, kind).toContain(`${at}.${field}`);
        const { query } = (list as AnyEndpoint).schemas();
        if (searched) expect(Object.keys((query && jsonSchemaOf(query, "input").properties) ?? {})).toContain("search");
      }
    }
  });

  test("every path parameter says what it names", () => {
    for (const endpoint of endpoints) {
      const names = [...endpoint.path.matchAll(/:([A-Za-z]+)/g)].map((match) => match[1] as string);
      expect(Object.keys(endpoint.refs).toSorted(), label(endpoint)).toEqual(names.toSorted());
    }
  });

  test("an id in a query or a body says what it names", () => {
    const nameless = endpoints.flatMap((endpoint) => {
      const { query, body } = endpoint.schemas();
      return [query, body]
        .flatMap((schema) => (schema === undefined ? [] : [...idsIn(jsonSchemaOf(schema, "input"))]))
        .filter(({ ref }) => ref === undefined)
        .map(({ path }) => `${label(endpoint)} ${path}`);
    });
    expect(nameless).toEqual([]);
    const wrong = {
      type: "object",
      properties: { a: { anyOf: [{ type: "string", format: "uuid" }, { type: "null" }] } },
    };
    expect([...idsIn(wrong)]).toEqual([{ path: ".a", ref: undefined }]);
  });

  test("every field of a query and a body says what it is", () => {
    const fieldsOf = (endpoint: AnyEndpoint) => {
      const { query, body } = endpoint.schemas();
      return [query, body].flatMap((schema) =>
        schema === undefined ? [] : Object.entries(jsonSchemaOf(schema, "input").properties ?? {}),
      );
    };
    const told = (field: JsonSchema) => [field, ...alternatives(field)].map((one) => one.description ?? "");
    const silent = endpoints.flatMap((endpoint) =>
      fieldsOf(endpoint)
        .filter(([, field]) => !told(field).some((text) => text.length > 2))
        .map(([name]) => `${label(endpoint)} ${name}`),
    );
    expect(silent).toEqual([]);
    expect(endpoints.flatMap(fieldsOf).length).toBeGreaterThan(300);
  });

  test("what destroys a tenant names it in its path", () => {
    const severe = endpoints.filter(({ loses }) => loses === "tenant");
    expect(severe.length).toBeGreaterThan(1);
    for (const endpoint of severe)
      expect(["partner", "organization"], label(endpoint)).toContain(Object.values(endpoint.refs)[0]);
  });

  test("every list has columns, the id last; nothing else has any", () => {
    for (const endpoint of endpoints) {
      const { columns } = endpoint;
      if (endpoint.paging === undefined) expect(columns, label(endpoint)).toEqual([]);
      else expect(columns.length, label(endpoint)).toBeGreaterThan(2);
      // The id of a preset is a word that people type: it is its name.
      const idAt = label(endpoint) === "sso-providers.presets" ? 0 : columns.length - 1;
      expect(columns.indexOf("id"), label(endpoint)).toBe(columns.includes("id") ? idAt : -1);
    }
  });

  test("the columns of a list are fields of its items", () => {
    for (const endpoint of endpoints.filter(({ columns }) => columns.length > 0)) {
      const { result } = endpoint.schemas();
      const paths = [...walk(result)].map((node) => node.path);
      const items = `.${endpoint.paging?.items}[]`;
      for (const column of endpoint.columns)
        expect(paths, `${label(endpoint)} ${column}`).toContain(`${items}.${column}`);
    }
  });

  test("every error code and permission named exists, once", () => {
    for (const endpoint of endpoints) {
      expect(
        endpoint.errors.filter((code) => !isErrorCode(code)),
        label(endpoint),
      ).toEqual([]);
      expect(new Set(endpoint.errors).size, label(endpoint)).toBe(endpoint.errors.length);
      expect(endpoint.access.permissions.filter((one) => !permissions.includes(one))).toEqual([]);
    }
  });

  test("every schema can be built, and every endpoint has a result", () => {
    for (const endpoint of endpoints) expect(endpoint.schemas().result, label(endpoint)).toBeInstanceOf(z.ZodType);
  });

  test("fields that carry secrets are marked as secret", () => {
    const telling =
      /(password|secret|(access|refresh|agent|watchdog|temp)token|recoverycodes|^key|enrollmentkey|url)$/i;
    // What anybody may see says so: `link()`, `webAddress()`. What is no text holds no secret.
    const isOpen = ({ type, format }: JsonSchema) =>
      /^uri/.test(String(format)) || ["boolean", "null"].includes(String(type));
    for (const endpoint of endpoints) {
      const { body, result } = endpoint.schemas();
      // The first of a path is the field as it is declared; what it wraps follows.
      const fields = [body, result].flatMap((schema) =>
        [...walk(schema)].filter(({ path }, at, all) => all.findIndex((other) => other.path === path) === at),
      );
      for (const node of fields) {
        const name = node.path.split(".").at(-1) ?? "";
        // Keys that are names: of an edge among those of its row, of a header.
        const isName = /(edges|headers)\[\]\.key$/.test(node.path) || name.endsWith("Key[]");
        if (!telling.test(name) || isName || alternatives(jsonSchemaOf(node.schema, "input")).every(isOpen)) continue;
        expect(isSecret(node.schema), `${label(endpoint)} ${node.path}`).toBe(true);
      }
    }
  });

  test("a POST with a credential that answers a secret takes an idempotency key, unless it judges a code or password", () => {
    // A wrong try must be counted although the call fails; the transaction a key opens would take the count back.
    const judging = ["mfa.stepUp", "passwords.change"];
    const minting = endpoints.filter(
      ({ method, access, schemas }) =>
        method === "POST" &&
        access.kinds.includes("user") &&
        [...walk(schemas().result)].some((n) => isSecret(n.schema)),
    );
    expect(minting.length).toBeGreaterThan(5);
    expect(minting.filter((one) => !one.idempotent).map(label)).toEqual(judging);
  });

  test("lists name the key under which their items stand", () => {
    for (const endpoint of endpoints.filter((one) => one.paging !== undefined)) {
      const keys = [...walk(endpoint.schemas().result)].map((node) => node.path);
      expect(keys, label(endpoint)).toContain(`.${endpoint.paging?.items}`);
    }
  });

  test("a heartbeat keeps what is well-formed and drops the rest", () => {
    const body = contract.agents.heartbeat.schemas().body;
    const sent = { status: "ok", agentVersion: "1", lastUser: 5, pendingReboot: true, watches: ["x"], more: 1 };
    expect(body?.parse(sent)).toEqual({ status: "ok", agentVersion: "1", pendingReboot: true, watches: [] });
    expect(body?.parse({ status: "ok", agentVersion: "1" })).toEqual({ status: "ok", agentVersion: "1" });
  });

  test("a resource gives its endpoints their names", () => {
    const named: Resource = resource(
      { name: "things", summary: "Things", audits: [] },
      { list: { ...contract.sites.list } },
    );
    expect(named["list"]).toMatchObject({ noun: "things", verb: "list" });
  });
});
