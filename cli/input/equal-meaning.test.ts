import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import type { CommandSpec } from "../manifest.ts";
import { readModel } from "../provisioning/read-model.ts";
import { commandLine, specs, tokenFor } from "../test-commands.ts";
import { testCommand } from "../test-shell.ts";

const command = testCommand();
afterAll(() => command.close());

const run = (argv: readonly string[], stdin?: string, spec?: CommandSpec) =>
  command.run(argv, {
    env: {
      RMM_SERVER: "http://127.0.0.1:9",
      RMM_TOKEN: spec ? tokenFor(spec.access) : "t",
    },
    ...(stdin === undefined ? {} : { stdin }),
  });

/** As they may stand in JSON, without quotes. */
const numbers = ["10115", "0.50", "1E3", "1.0", "12345678901234567890"];
const takesFile = async (): Promise<CommandSpec[]> =>
  (await specs()).filter(({ hasBody, body, method }) => hasBody && method !== "GET" && textsOf(body).length > 0);
const textsOf = (body: CommandSpec["body"]) =>
  body.filter(({ type, format, secret, ref }) => type === "string" && !format && !secret && !ref);

describe("equal meaning, equal result", () => {
  it("every command takes a number in the place of text as it is written, from every kind of file (C64)", async () => {
    const found = await takesFile();
    expect(found.length).toBeGreaterThan(8);
    for (const spec of found) {
      const texts = textsOf(spec.body);
      const written = Object.fromEntries(texts.map(({ name }, index) => [name, numbers[index % numbers.length]!]));
      const plain = Object.entries(written).map(([name, number]) => `${JSON.stringify(name)}:${number}`);
      const files = {
        "a.json": `{${plain.join(",\n ")}}`,
        "a.yaml": plain.map((one) => one.replace(":", ": ")).join("\n"),
        "a.yml": stringify(written, { defaultStringType: "QUOTE_DOUBLE" }),
        "quoted.json": JSON.stringify(written),
        "a.ndjson": `{${plain.join(",")}}`,
      };
      const { argv, stdin } = commandLine(spec);
      const flags = new Set(texts.map(({ flag }) => `--${flag}`));
      const kept = argv.filter((word, index) => !flags.has(word) && !flags.has(argv[index - 1] ?? ""));
      for (const [name, text] of Object.entries(files)) {
        const path = join(command.dir, name);
        writeFileSync(path, text);
        const ran = await run([...kept, "-f", path, "--dry-run", "--json"], stdin, spec);
        expect([ran.code, ran.stderr], `${spec.noun} ${spec.name} ${name}`).toEqual([0, expect.any(String)]);
        const { body } = [JSON.parse(ran.stdout)].flat()[0];
        expect(body, `${spec.noun} ${spec.name} ${name}`).toMatchObject(written);
      }
    }
  });

  const free = '{"int":10115,"half":0.50,"big":1E3,"one":1.0,"text":"01067","yes":true,"none":null}';
  it("a free object keeps the types of JSON, from every kind of file (C64)", async () => {
    const files = {
      "free.json": `{"orgId":"11111111-1111-4111-8111-111111111111","name":"x","settings":${free}}`,
      "free.yaml": `orgId: 11111111-1111-4111-8111-111111111111\nname: x\nsettings:\n  int: 10115\n  half: 0.50\n  big: 1E3\n  one: 1.0\n  text: 01067\n  yes: true\n  none: ~\n`,
    };
    for (const [name, text] of Object.entries(files)) {
      const path = join(command.dir, name);
      writeFileSync(path, text);
      const { stdout } = await run(["sites", "create", "-f", path, "--dry-run", "--json"]);
      expect(JSON.parse(stdout).body.settings, name).toEqual(JSON.parse(free));
    }
  });

  it("the same provisioning file in YAML, in YAML with quotes and in JSON is the same book (C64)", async () => {
    const quoted = (quote: string) => (text: string) => `${quote}${text}${quote}`;
    const book = (text: (value: string) => string) => `{"apiVersion": "rmm/v1", "organizations": [
  {"slug": ${text("1234")}, "name": ${text("1.10")}, "maxDevices": 5,
   "contacts": [{"name": ${text("10115")}, "phone": ${text("0.50")}, "notes": ${text("true")}}],
   "sites": [{"name": ${text("1E3")}, "address": {"postalCode": ${text("10115")}, "floor": 2}}],
   "billingContact": {"phone": ${text("4930123")}, "id": 7},
   "settings": {"a": 0.50, "b": [1.0, true], "billing": {"taxId": ${text("77")}, "taxRate": 0.19}}}]}`;
    const models = await Promise.all(
      [book((text) => text), book(quoted('"'))].flatMap((json) => [
        readModel(json),
        readModel(json.replaceAll('"', "'")),
        readModel(json.replace(/"(\w+)":/g, "$1:")),
      ]),
    );
    const values = models.map(({ model, problems }) => {
      expect(problems).toEqual([]);
      return JSON.parse(
        JSON.stringify(model, (key, value) => (["line", "path", "lines"].includes(key) ? undefined : value)),
      );
    });
    for (const value of values) expect(value).toEqual(values[0]);
    expect(values[0].organizations[0]).toMatchObject({
      name: "1.10",
      contacts: [{ name: "10115", phone: "0.50", notes: "true" }],
      sites: [{ name: "1E3", address: { postalCode: "10115", floor: 2 } }],
      billingContact: { phone: "4930123", id: 7 },
      settings: { a: 0.5, b: [1, true], billing: { taxId: "77", taxRate: 0.19 } },
    });
  });

  it("refuses a number that cannot be kept, at its line, in every kind of file (C58, C64)", async () => {
    const problems = (text: string) =>
      readModel(text).then((read) => read.problems.map(({ line, path }) => `${line} ${path}`));
    for (const number of ["1e400", "12345678901234567890"]) {
      expect(
        await problems(`apiVersion: rmm/v1\norganizations:\n  - slug: a\n    settings:\n      x: ${number}\n`),
      ).toEqual(["5 organizations[0].settings.x"]);
      for (const [name, text] of [
        ["n.json", `{"orgId":"11111111-1111-4111-8111-111111111111","name":"x","settings":{"x":${number}}}`],
        ["n.yaml", `orgId: 11111111-1111-4111-8111-111111111111\nname: x\nsettings: { x: ${number} }\n`],
      ] as const) {
        const path = join(command.dir, name);
        writeFileSync(path, text);
        const ran = await run(["sites", "create", "-f", path, "--dry-run"]);
        expect([ran.code, ran.stdout], name).toEqual([2, ""]);
        expect(ran.stderr).toContain("cannot be kept exactly");
        const flag = await run([
          "sites",
          "create",
          "--org",
          "x",
          "--name",
          "x",
          "--settings",
          `{"x":${number}}`,
          "--dry-run",
        ]);
        expect([flag.code, flag.stdout]).toEqual([2, ""]);
      }
    }
  });
});
