import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { allEndpoints } from "#contract/index";
import { cliManifest } from "./gen/commands.ts";
import { flagsOf } from "./gen/flags.ts";
import { generatedFiles, generatedFolders } from "./gen/outputs.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const files = generatedFiles();

test.each([...files.keys()])("%s is what the contract makes today (else: npm run gen)", async (path) => {
  expect(await readFile(join(root, path), "utf8")).toBe(files.get(path));
});

test.each(generatedFolders)("%s holds nothing that is no longer made", async (folder) => {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const present = entries.filter((entry) => entry.isFile()).map(({ name }) => `${folder}/${name}`);
  expect(present.filter((path) => !files.has(path))).toEqual([]);
});

test("there is one command per endpoint", () => {
  const text = [...cliManifest()].filter(([path]) => !path.endsWith("/nouns.ts")).map(([, content]) => content);
  expect(text.join("\n").match(/^ {2}\{"name":/gm)).toHaveLength(allEndpoints().length);
});

test("flags say what ids name: one, in an array, with commas, besides a word", () => {
  const site = { type: "string", format: "uuid", "x-ref": "site" } as const;
  const flags = flagsOf({
    properties: {
      one: { anyOf: [site, { type: "null" }] },
      many: { type: "array", items: site },
      text: { type: "string", "x-ref": "site", description: "comma-separated uuids" },
      word: { anyOf: [{ type: "string", const: "none" }, site] },
      plain: { type: "string", format: "uuid" },
    },
  });
  expect(flags.map(({ name, ref, format, type, words }) => ({ name, ref, format, type, words }))).toEqual([
    { name: "one", ref: "site", format: "uuid", type: "string" },
    { name: "many", ref: "site", type: "array" },
    { name: "text", ref: "site", type: "string" },
    { name: "word", ref: "site", format: "uuid", type: "string", words: ["none"] },
    { name: "plain", format: "uuid", type: "string" },
  ]);
});

test("commands carry losses, columns, events and what their parameters name, and their group its area", () => {
  const files = cliManifest();
  const of = (noun: string, name: string) =>
    files
      .get(`cli/generated/${noun}.ts`)
      ?.split("\n")
      .filter((line) => line.startsWith(`  {"name":"${name}"`))
      .map((line) => JSON.parse(line.trim().replace(/,$/, "")))[0];
  expect(of("partner-service-principals", "rotate-key")).toMatchObject({
    loses: "secret",
    columns: [],
    emits: [],
    mayEmit: [],
    refs: { id: "partner-service-principal", keyId: "partner-key" },
  });
  expect(of("sites", "list").columns.at(-1)).toBe("id");
  expect(of("login-branding", "get").access.ownPartner).toBe(true);
  expect(files.get("cli/generated/nouns.ts")).toContain('{"noun":"api-keys","area":"credentials"');
});

test("flags carry type, choices, null, default, secrecy and a description", () => {
  const flags = flagsOf({
    required: ["word"],
    properties: {
      word: { type: "string", maxLength: 5 },
      maxUsage: { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }], default: null },
      kinds: { type: "array", items: { type: "string", enum: ["a", "b"] } },
      mode: { type: "string", enum: ["x", "y"], description: "how" },
      note: { type: ["string", "null"] },
      pin: { type: "string", "x-secret": true },
    },
  });
  expect(flags).toEqual([
    { name: "word", flag: "word", type: "string", required: true, nullable: false, secret: false, maxLength: 5 },
    {
      name: "maxUsage",
      flag: "max-usage",
      type: "integer",
      required: false,
      nullable: true,
      secret: false,
      default: null,
      minimum: 1,
    },
    {
      name: "kinds",
      flag: "kinds",
      type: "array",
      itemType: "enum",
      itemValues: ["a", "b"],
      required: false,
      nullable: false,
      secret: false,
    },
    {
      name: "mode",
      flag: "mode",
      type: "enum",
      values: ["x", "y"],
      required: false,
      nullable: false,
      secret: false,
      description: "how",
    },
    { name: "note", flag: "note", type: "string", required: false, nullable: true, secret: false },
    { name: "pin", flag: "pin", type: "string", required: false, nullable: false, secret: true },
  ]);
});
