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
  const present = (await readdir(join(root, folder))).map((name) => `${folder}/${name}`);
  expect(present.filter((path) => !files.has(path))).toEqual([]);
});

test("there is one command per endpoint", () => {
  const text = [...cliManifest()].filter(([path]) => !path.endsWith("/nouns.ts")).map(([, content]) => content);
  expect(text.join("\n").match(/^ {2}\{"name":/gm)).toHaveLength(allEndpoints().length);
});

test("flags carry type, choices, null, default and secrecy", () => {
  const flags = flagsOf({
    required: ["name"],
    properties: {
      name: { type: "string", maxLength: 5 },
      maxUsage: { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }], default: null },
      roles: { type: "array", items: { type: "string", enum: ["a", "b"] } },
      mode: { type: "string", enum: ["x", "y"], description: "how" },
      note: { type: ["string", "null"] },
      password: { type: "string", "x-secret": true },
    },
  });
  expect(flags).toEqual([
    { name: "name", flag: "name", type: "string", required: true, nullable: false, secret: false, maxLength: 5 },
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
      name: "roles",
      flag: "roles",
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
    { name: "password", flag: "password", type: "string", required: false, nullable: false, secret: true },
  ]);
});
