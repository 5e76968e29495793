import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { lfLines } from "#server/audit/lf-lines";
import { importCustomers } from "../provisioning/import/import-customers.ts";
import { readModel } from "../provisioning/read-model.ts";
import { toYaml } from "../provisioning/to-yaml.ts";
import { testCommand } from "../test-shell.ts";

/** What one runtime or another takes for the end of a line. */
const ends = ["\u2028", "\u2029", "\u0085", "\v", "\f"];
const name = `A${ends.map((end) => `${end}b`).join("")}`;

const command = testCommand();
afterAll(() => command.close());

const bodies = async (file: string, text: string): Promise<string[]> => {
  const path = join(command.dir, file);
  writeFileSync(path, text);
  const argv = [
    "sites",
    "create",
    "--org",
    "11111111-1111-4111-8111-111111111111",
    "-f",
    path,
    "--dry-run",
    "--ndjson",
  ];
  const { stdout, stderr } = await command.run(argv, { env: { RMM_SERVER: "http://127.0.0.1:9", RMM_TOKEN: "t" } });
  expect(stderr).not.toContain("rmm:");
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).body.name);
};

describe("lines end at LF alone", () => {
  it("in NDJSON, JSON, YAML and CSV that commands take (C67)", async () => {
    // JSON and YAML write the two that are no text to them as escapes.
    const quoted = JSON.stringify(name).replaceAll("\\u2028", "\u2028").replaceAll("\\u2029", "\u2029");
    expect(await bodies("a.ndjson", `{"name":${quoted}}\n{"name":"x"}\n`)).toEqual([name, "x"]);
    expect(await bodies("a.json", `[{"name":${quoted}},\n{"name":"x"}]`)).toEqual([name, "x"]);
    expect(await bodies("a.yaml", `- name: ${quoted}\n- name: x\n`)).toEqual([name, "x"]);
    for (const end of ["\n", "\r\n"])
      expect(await bodies("a.csv", ["name", `"${name}"`, name, "x", ""].join(end))).toEqual([name, name, "x"]);
  });

  it("in provisioning files, written and read (C67)", async () => {
    const file = { apiVersion: "rmm/v1", organizations: [{ slug: "a", contacts: [{ name: "n", notes: name }] }] };
    const { model, problems } = await readModel(await toYaml(file));
    expect(problems).toEqual([]);
    expect(model?.organizations[0]?.contacts?.[0]?.notes).toBe(name);
  });

  it("in what a spreadsheet exports, and names of one line keep one line (C67)", () => {
    const csv = `Company,Notes,Contact\nA,"${name}",n\nB,x,m\n`;
    const { file, refused } = importCustomers(Buffer.from(csv), { map: [], mapValue: [], guess: true });
    expect(refused).toEqual([]);
    expect(file.organizations.map(({ slug }) => slug)).toEqual(["a", "b"]);
    expect(file.organizations[0]).toMatchObject({ contacts: [{ notes: name }] });
  });

  it("in audit bundles, however the bytes arrive (C67)", async () => {
    const lines = [JSON.stringify({ name }), `${name}`, createHash("sha256").update(name).digest("hex")];
    const bytes = Buffer.from(lines.join("\n"));
    for (const size of [1, 2, 3, 7, 1_000]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      const read: string[] = [];
      for await (const line of lfLines(
        (async function* () {
          yield* chunks;
        })(),
      ))
        read.push(line);
      expect(read).toEqual(lines);
    }
  });
});
