import stringWidth from "string-width";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Stub, stubServer } from "#sdk/stub-server";
import type { CommandSpec } from "../manifest.ts";
import { commandLine, ANY_ID as ID, specs } from "../test-commands.ts";
import { testCommand } from "../test-shell.ts";

const command = testCommand();
let stub: Stub;
let answer: unknown;
beforeAll(async () => {
  stub = await stubServer(() => ({ body: answer }));
});
afterAll(async () => {
  await stub.close();
  command.close();
});

const LONG = "Zahnärztliche-Gemeinschaftspraxis-Müller-und-Söhne";
const WIDE = "株式会社ハーバーデンタルクリニック☕️";

/** A row whose every value is long, or as long as such values are. */
function row(spec: CommandSpec, text: string): object {
  const made: Record<string, unknown> = {};
  for (const column of spec.columns) {
    const path = column.split(".");
    const last = path.at(-1)!;
    let at = made;
    for (const name of path.slice(0, -1)) {
      at[name] ??= {};
      at = at[name] as Record<string, unknown>;
    }
    at[last] = /^id$|Id$/.test(last) ? ID : /At$|^timestamp$/.test(last) ? "2026-02-19T08:48:00.000Z" : text;
  }
  return made;
}

async function list(spec: CommandSpec, text: string, more: readonly string[], columns: number, tty = true) {
  const { argv, stdin } = commandLine(spec);
  answer = { [spec.paging!.items]: [row(spec, text)], pagination: { page: 1, limit: 50, total: 1 } };
  const { kinds } = spec.access;
  const RMM_TOKEN = kinds.includes("user") ? "token-of-ana" : `svc_sp_${"a".repeat(43)}`;
  const env = { RMM_SERVER: stub.url, RMM_TOKEN, NO_COLOR: "1" };
  const ran = await command.run([...argv, ...more], { tty, columns, env, ...(stdin === undefined ? {} : { stdin }) });
  expect(ran.code, `${argv.join(" ")}: ${ran.stderr}`).toBe(0);
  return ran;
}

const lists = async () => (await specs()).filter(({ paging }) => paging !== null);

/** What stands under each heading, its lines put together without blanks. */
function cellsOf(text: string): Map<string, string> {
  const lines = text.split("\n");
  const starts = [...lines[0]!.matchAll(/\S+(?: \S+)*/g)].map(({ 0: heading, index }) => ({ heading, index }));
  return new Map(
    starts.map(({ heading, index }, at) => {
      const parts = lines.slice(1).map((line) => columnsOf(line, index, starts[at + 1]?.index));
      return [heading, parts.join("").replaceAll(/\s/g, "")];
    }),
  );
}

/** Part of a line by columns of a terminal, where a character may take two. */
function columnsOf(line: string, from: number, to = Number.POSITIVE_INFINITY): string {
  let at = 0;
  let part = "";
  for (const char of line) {
    if (at >= from && at < to) part += char;
    at += stringWidth(char);
  }
  return part;
}

const shownIn = ({ text }: { text: string }) => ({ text, shown: text.split("\n")[0]!.toLowerCase() });

describe("every list", () => {
  it("has no line longer than the terminal, and never cuts what names the row", async () => {
    for (const spec of await lists()) {
      for (const text of [LONG, WIDE]) {
        for (const columns of [40, 60, 80, 120]) {
          const { stdout } = await list(spec, text, [], columns);
          for (const line of stdout.split("\n"))
            expect(stringWidth(line), `${spec.noun} ${spec.name} at ${columns}: ${line}`).toBeLessThanOrEqual(columns);
          const first = spec.columns[0]!;
          if (/Id$|At$|^id$|^timestamp$/.test(first)) continue;
          const names = stdout.split("\n").map((line) => line.split("  ")[0]);
          expect(names.join(""), `${spec.noun} ${spec.name} at ${columns}`).toContain(text);
        }
      }
    }
  });

  it("never cuts a kind, an action or a slug: they are typed as they stand", async () => {
    const { tableText } = await import("./table.ts");
    const action = "partner_service_principal_key.issue_by_another";
    const columns = ["name", "kind", "action", "note"];
    const rows = [{ name: "A", kind: "partner-service-principal-key", action, note: LONG }];
    for (const width of [40, 60, 80]) {
      const { text, shown } = shownIn(tableText(rows, { header: true, coloured: false, nowMs: 0, columns, width }));
      for (const [column, value] of Object.entries({ kind: "partner-service-principal-key", action }))
        if (shown.includes(column)) expect(text, `${column} at ${width}`).toContain(value);
    }
  });

  it("names rows first, ids last, and has names beside what it shows where a row lies", async () => {
    for (const { noun, name, columns, fields } of await lists()) {
      const where = `${noun} ${name}`;
      if (columns.includes("id") && columns[0] !== "id") expect(columns.at(-1), where).toBe("id");
      // Exports are for programs, which keep the ids.
      if (noun === "partner-api") continue;
      for (const id of ["orgId", "siteId", "roleId", "tenantId"]) expect(columns, where).not.toContain(id);
      if (columns.includes("siteName")) expect(fields, where).toContain("siteId");
    }
  });

  it("says what it has no room for, and shows it with --wide or --columns", async () => {
    for (const spec of await lists()) {
      if (spec.columns.at(-1) !== "id" || /Id$/.test(spec.columns[0]!)) continue;
      const narrow = await list(spec, LONG, [], 60);
      expect(narrow.stdout).not.toContain(ID);
      expect(narrow.stderr.replaceAll(/\s+/g, " ")).toMatch(/^No room for .*\bid: --wide shows all columns $/);
      expect((await list(spec, LONG, ["--quiet"], 60)).stderr).toBe("");
      const wide = await list(spec, LONG, ["--wide"], 60);
      expect([wide.stdout.includes(ID), wide.stderr]).toEqual([true, ""]);
      expect(wide.stdout.split("\n")[1]).toContain(LONG);
      expect((await list(spec, LONG, ["--columns", "id"], 60)).stdout).toContain(ID);
    }
  });

  it("cuts and leaves out nothing that cannot be had again: new keys, failures", async () => {
    const { tableText } = await import("./table.ts");
    const columns = ["item", "outcome", "id", "name", "key", "message"];
    const rows = [{ item: 1, outcome: "done", id: ID, name: LONG, key: "f00d".repeat(16), message: "" }];
    const options = { header: true, coloured: false, nowMs: 0, columns, keep: ["name", "key"] };
    const { text, left } = tableText(rows, { ...options, width: 60 });
    expect(text).toContain("f00d".repeat(16));
    expect(text).toContain(LONG);
    expect(left).toContain("id");
  });

  it("cuts no name and no text, and says what else it cut", async () => {
    const { tableText, lackOf } = await import("./table.ts");
    const settings = { ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => [`setting${n}`, LONG])) };
    const rows = [{ slug: "a", name: WIDE.repeat(3), orgName: LONG.repeat(3), remedy: LONG.repeat(9), settings }];
    const columns = Object.keys(rows[0]!);
    for (const width of [40, 60, 80, 120]) {
      const shown = tableText(rows, { header: true, coloured: false, nowMs: 0, columns, width });
      const cells = cellsOf(shown.text);
      for (const [heading, whole] of [
        ["NAME", WIDE.repeat(3)],
        ["ORGANIZATION", LONG.repeat(3)],
        ["REMEDY", LONG.repeat(9)],
      ])
        if (cells.has(heading!)) expect(cells.get(heading!), `${heading} at ${width}`).toBe(whole);
      expect(cells.has("REMEDY"), String(width)).toBe(true);
      const says = lackOf(shown) ?? "";
      expect(says, String(width)).toContain("settings");
      expect(shown.text.includes("…"), String(width)).toBe(shown.cut.length > 0);
    }
    expect(lackOf(tableText(rows, { header: true, coloured: false, nowMs: 0, columns, width: 0, fit: "wide" }))).toBe(
      undefined,
    );
  });

  it("breaks messages and addresses into lines, which say nothing when they are cut", async () => {
    const said =
      "The backup of reception-pc did not end within 12 hours, and none of the last three did: look at its disk";
    for (const [noun, name, text] of [
      ["notifications", "list", said],
      ["webhooks", "deliveries", said],
      ["webhooks", "list", "https://hooks.contoso.example/integrations/rmm/v2/receivers/primary"],
    ] as const) {
      const spec = (await lists()).find((one) => one.noun === noun && one.name === name)!;
      const { stdout } = await list(spec, text, [], 80);
      const column = spec.columns.find((one) => /^(message|errorMessage|url)$/.test(one))!;
      const start = stdout
        .split("\n")[0]!
        .indexOf({ message: "MESSAGE", errorMessage: "ERROR MESSAGE", url: "URL" }[column]!);
      const shown = stdout
        .split("\n")
        .slice(1)
        .map((line) => line.slice(start).split(/ {2}/)[0]!);
      expect(shown.join("").replaceAll(" ", ""), `${noun} ${name}`).toContain(text.replaceAll(" ", ""));
    }
  });

  it("keeps kind and organization of rotated keys on 80 columns, and the whole of where a secret went", async () => {
    const { tableText } = await import("./table.ts");
    const { resultColumns: columns } = await import("../commands/keys/rotate-view.ts");
    const sink = "rotated/contoso-dental_api-key_backup-job.key";
    const row = { outcome: "done", kind: "api-key", id: ID, name: "backup-job", organization: "contoso-dental", sink };
    const rows = [{ ...row, keyPrefix: "svc_12345678", message: "" }];
    const options = { header: true, coloured: false, nowMs: 0, columns, keep: ["name"], width: 80 };
    const { text, left } = tableText(rows, options);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(left.filter((name) => ["kind", "organization", "sink"].includes(name))).toEqual([]);
    const path = text
      .split("\n")
      .slice(1)
      .map((line) => line.slice(text.indexOf("SINK")).trim());
    expect(path.join("")).toContain(sink);
  });

  it("leaves a pipe every column, whatever the width", async () => {
    for (const spec of await lists())
      expect((await list(spec, LONG, [], 40, false)).stdout.trimEnd().split("\t").length).toBe(spec.columns.length);
  });
});

describe("a table of a command that calls no endpoint's list", () => {
  it("is as whole at 60 and 80 columns as it is wide: checks with their remedies, what may be done with the reasons", async () => {
    answer = { scope: "partner", permissions: ["sites:read"], orgAccess: "all", orgIds: null, siteIds: null, mfa: {} };
    const env = { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana", NO_COLOR: "1" };
    for (const argv of [
      ["server", "doctor", "--data-dir", `${command.dir}/a-folder-with-a-name-that-is-longer-than-its-column`],
      ["auth", "can-i", "--list"],
      ["config", "explain"],
    ]) {
      const wide = cellsOf((await command.run([...argv, "--wide"], { tty: true, columns: 80, env })).stdout);
      expect([...wide.values()].join("").length, argv.join(" ")).toBeGreaterThan(200);
      for (const columns of [60, 80]) {
        const { stdout, stderr } = await command.run(argv, { tty: true, columns, env });
        for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(columns);
        expect(cellsOf(stdout), argv.join(" ")).toEqual(wide);
        expect(stderr).not.toContain("No room");
      }
    }
  });
});
