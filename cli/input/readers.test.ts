import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Stub } from "#sdk/stub-server";
import { ids, paged, stubApi } from "../test-api.ts";
import { type Ran, testCommand } from "../test-shell.ts";

const command = testCommand();
let stub: Stub;
beforeAll(async () => {
  const made = () => ({ status: 201, body: { id: ids.twin } });
  stub = await stubApi({
    "POST /orgs/organizations": made,
    "POST /orgs/sites": made,
    [`POST /orgs/organizations/${ids.contoso}/contacts`]: made,
    "GET /devices": (_seen, query) => paged([], query),
  });
});
afterAll(async () => {
  await stub.close();
  command.close();
});

interface Reader {
  name: string;
  text: string;
  argv(path: string): string[];
  /** Takes `-` in the place of a path, or a flag of its own. */
  stdin?: string[];
  takesEncoding?: boolean;
  /** Says so where it takes bytes for another encoding than UTF-8. */
  guesses?: boolean;
}

const book = 'apiVersion: rmm/v1\norganizations:\n  - slug: a\n    name: "Müller"\n';
const token = "tökén-of-no-use";
const readers: readonly Reader[] = [
  ...["plan", "diff", "apply"].map((verb) => ({
    name: "book.yaml",
    text: book,
    argv: (path: string) => [verb, path, ...(verb === "apply" ? ["--yes"] : [])],
    takesEncoding: true,
  })),
  ...(["json", "ndjson", "yaml", "csv"] as const).map((kind) => ({
    name: `contacts.${kind}`,
    text: {
      json: '[{"name":"Müller"},\n{"name":"Çelik"}]\n',
      ndjson: '{"name":"Müller"}\n{"name":"Çelik"}\n',
      yaml: "- name: Müller\n- name: Çelik\n",
      csv: "name,email\nMüller,a@x.example\nÇelik,b@x.example\n",
    }[kind],
    argv: (path: string) => ["contacts", "create", ids.contoso, "-f", path],
    takesEncoding: true,
  })),
  {
    name: "body.json",
    text: `{"orgId":"${ids.contoso}",\n"name":"Müller"}\n`,
    argv: (path) => ["api", "POST", "/orgs/sites", "--input", path],
    takesEncoding: true,
  },
  {
    name: "customers.csv",
    text: "Company,Email\nMüller,a@x.example\nÇelik,b@x.example\n",
    argv: (path) => ["import", path],
    takesEncoding: true,
    guesses: true,
  },
  {
    name: "token",
    text: `${token}\n`,
    argv: (path) => ["devices", "list", "--token-file", path],
    stdin: ["devices", "list", "--token-stdin"],
  },
  {
    name: "password",
    text: "pässwörd-1\n",
    argv: (path) => ["auth", "login", "--email", "a@x.example", "--store=file", "--password-file", path],
    stdin: ["auth", "login", "--email", "a@x.example", "--store=file", "--password-stdin"],
  },
];

const utf8 = (text: string) => Buffer.from(text, "utf8");
const cp1252 = (text: string) => Buffer.from(text, "latin1");
const at = (bytes: Buffer, text: string): Buffer => {
  const place = bytes.indexOf("\n") + 1 || bytes.length;
  return Buffer.concat([bytes.subarray(0, place), Buffer.from(text, "latin1"), bytes.subarray(place)]);
};

/** Bytes that mean the same as the text in UTF-8. */
const sound: Record<string, (text: string) => Buffer> = {
  "a byte-order mark": (text) => utf8(`\ufeff${text}`),
  "UTF-16 with its mark": (text) => Buffer.from(`\ufeff${text}`, "utf16le"),
  "UTF-16 of the other order": (text) => Buffer.from(`\ufeff${text}`, "utf16le").swap16(),
  CRLF: (text) => utf8(text.replaceAll("\n", "\r\n")),
  "no last line end": (text) => utf8(text.trimEnd()),
};

/** Bytes that mean nothing for certain. */
const broken: Record<string, (text: string) => Buffer> = {
  cp1252: cp1252,
  "a stray byte in UTF-8": (text) => at(utf8(`${text}ü`), "\xfc"),
  "a NUL": (text) => at(utf8(text), "\0"),
  "UTF-16 without a mark": (text) => Buffer.from(text, "utf16le"),
  "half a character at the end": (text) => Buffer.concat([utf8(text), Buffer.from([0xc3])]),
};

let count = 0;
function write(name: string, bytes: Buffer): string {
  const dir = join(command.dir, `readers-${++count}`);
  mkdirSync(dir);
  const path = join(dir, name);
  writeFileSync(path, bytes);
  return path;
}

interface Outcome extends Ran {
  sent: unknown[];
}

async function run(argv: readonly string[], path: string, stdin?: Buffer): Promise<Outcome> {
  stub.seen.length = 0;
  const env = { RMM_SERVER: stub.url, ...(argv.some((word) => /token|login/.test(word)) ? {} : { RMM_TOKEN: "t" }) };
  const ran = await command.run(argv, { env, ...(stdin === undefined ? {} : { stdin }) });
  const plain = (text: string) =>
    text
      .replaceAll(path, "FILE")
      .replace(/utf-16[bl]e|utf-8/g, "UTF")
      .replace(/ in \d+ ms/g, "");
  const sent = stub.seen.map(({ method, path: of, body }) => [method, of, body]);
  return { code: ran.code, stdout: plain(ran.stdout), stderr: plain(ran.stderr), sent };
}

const cases = readers.map((reader) => [reader.argv(reader.name).join(" "), reader] as const);

describe("files and stdin are read by one reader", () => {
  it.each(cases)("%s means the same in every sound spelling, and as --encoding says (C63)", async (_line, reader) => {
    const path = write(reader.name, utf8(reader.text));
    const expected = await run(reader.argv(path), path);
    for (const [what, spell] of Object.entries(sound)) {
      writeFileSync(path, spell(reader.text));
      expect(await run(reader.argv(path), path), what).toEqual(expected);
    }
    if (!reader.takesEncoding) return;
    writeFileSync(path, cp1252(reader.text));
    const named = await run([...reader.argv(path), "--encoding", "cp1252"], path);
    expect({ ...named, stderr: named.stderr.replace("windows-1252", "UTF") }).toEqual(
      expected.stderr.includes("Carry") ? expect.anything() : expected,
    );
  });

  it.each(cases)(
    "%s refuses a byte that is no text with file, line and column, and sends nothing (C63)",
    async (_line, reader) => {
      for (const [what, spell] of Object.entries(broken)) {
        if (reader.guesses && (what === "cp1252" || what.startsWith("UTF-16"))) continue;
        const bytes = spell(reader.text);
        const path = write(reader.name, bytes);
        const forms: [string[], Buffer | undefined, string][] = [[reader.argv(path), undefined, "FILE"]];
        if (reader.stdin) forms.push([reader.stdin, bytes, "stdin"]);
        else forms.push([reader.argv("-"), bytes, "stdin"]);
        for (const [argv, stdin, name] of forms) {
          const { code, stdout, stderr, sent } = await run(argv, path, stdin);
          expect([code, stdout, sent], `${what} ${argv.join(" ")} ${stderr}`).toEqual([2, "", []]);
          expect(stderr, what).toMatch(new RegExp(`${name}:\\d+:\\d+: (not UTF-8|no text)`));
          expect(stderr).not.toMatch(/rd-1|of-no-use/);
          if (reader.stdin) expect(stderr).not.toContain("0x");
        }
      }
    },
  );

  it("an empty file is no text either, and is said to be empty or incomplete (C63)", async () => {
    for (const reader of readers) {
      const path = write(reader.name, Buffer.alloc(0));
      const { code, stdout, sent } = await run(reader.argv(path), path);
      expect([code, stdout, sent], reader.name).toEqual([2, "", []]);
    }
  });

  it("names the place exactly, and an import takes no UTF-8 with a stray byte for cp1252 (C63)", async () => {
    const bytes = Buffer.concat([utf8("Company,Email\nMüller,a@x.example\nÇel"), Buffer.from([0xec]), utf8("k,b\n")]);
    const path = write("customers.csv", bytes);
    expect((await run(["import", path], path)).stderr).toContain("FILE:3:4: not UTF-8 (byte 0xEC)");
  });

  it("nothing else turns bytes into text or reads YAML (C63, C64)", () => {
    const sources = (readdirSync("cli", { recursive: true }) as string[]).filter(
      (path) => path.endsWith(".ts") && !/(^|\/)(test-[\w-]+|.*\.test)\.ts$/.test(path),
    );
    const using = (pattern: RegExp) =>
      sources.filter((path) => pattern.test(readFileSync(join("cli", path), "utf8"))).toSorted();
    expect(using(/TextDecoder\(/)).toEqual(["input/decode.ts"]);
    // Output of this process, and requests of a browser.
    expect(using(/readFile\w*\([^)]*"utf8"|toString\("utf8"\)/)).toEqual([
      "commands/quickstart/from-package.ts",
      "commands/quickstart/transcript.ts",
      "hand-over/listener.ts",
    ]);
    expect(using(/import\("yaml"\)|from "yaml"/)).toEqual(["input/parse-document.ts", "provisioning/to-yaml.ts"]);
    expect(using(/readline/)).toEqual([]);
  });
});
