import stringWidth from "string-width";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commandLine, specs } from "#cli/test-commands";
import { testCommand } from "#cli/test-shell";
import { areas } from "#contract/areas";
import { areaOfNoun } from "#contract/index";
import { type Stub, stubServer } from "#sdk/stub-server";
import { allCases, type Case } from "../conformance/cases.ts";
import { type Swept, startSweep } from "../conformance/sweep.ts";
import { START } from "../harness.ts";
import { expectGolden } from "./golden.ts";

const WIDTHS = [60, 80, 120] as const;
const command = testCommand();
let swept: Swept;
let stub: Stub;
let answer: unknown;
beforeAll(async () => {
  swept = await startSweep("sqlite", { outside: true, fresh: 0 });
  stub = await stubServer(() => ({ body: answer }));
});
afterAll(async () => {
  await stub?.close();
  await swept?.stop();
  command.close();
});

const lists = allCases.filter(({ endpoint }) => endpoint.paging !== undefined);

/** Shows the rows of the fixtures as on a terminal, so that reviewers see changes of tables. */
it("every list is drawn as it was agreed, on terminals of every width", async () => {
  const drawn = new Map<string, Record<string, string[]>>();
  for (const item of lists) {
    const { noun, name, pictures } = await draw(item);
    const area = areaOfNoun(noun) as string;
    for (const [width, lines] of Object.entries(pictures))
      drawn.set(area, { ...drawn.get(area), [`rmm ${noun} ${name}, ${width} columns`]: lines });
  }
  const all = [...drawn.values()].flatMap((pictures) => Object.values(pictures));
  expect(all.filter((lines) => lines.length > 1).length).toBeGreaterThan(WIDTHS.length * 20);
  for (const area of Object.keys(areas)) if (drawn.has(area)) expectGolden(`${area}/lists.json`, drawn.get(area));
}, 120_000);

async function draw(item: Case) {
  const { method, path } = item.endpoint;
  const spec = (await specs()).find((one) => one.method === method && one.path === path)!;
  const ready = await swept.prepared(item, swept.world.a);
  answer = plain((await swept.call(item, ready)).body);
  const { argv, stdin } = commandLine(spec);
  const { kinds } = spec.access;
  const RMM_TOKEN = kinds.includes("user") ? "token-of-ana" : `svc_sp_${"a".repeat(43)}`;
  const pictures: Record<number, string[]> = {};
  for (const columns of WIDTHS) {
    const ran = await command.run(argv, {
      tty: true,
      columns,
      env: { RMM_SERVER: stub.url, RMM_TOKEN, NO_COLOR: "1" },
      ...(stdin === undefined ? {} : { stdin }),
    });
    expect(ran.code, `${argv.join(" ")}: ${ran.stderr}`).toBe(0);
    const lines = `${ran.stdout}${ran.stderr}`.trimEnd().split("\n");
    for (const line of ran.stdout.split("\n")) expect(stringWidth(line), line).toBeLessThanOrEqual(columns);
    pictures[columns] = lines;
  }
  return { noun: spec.noun, name: spec.name, pictures };
}

/** Replaces random values by numbers, so that the text is the same every time. */
function plain(body: unknown): unknown {
  const known = new Map<string, string>();
  const counted = (text: string) => {
    const short = known.get(text) ?? `${known.size + 1}`.padStart(text.length, "0");
    known.set(text, short);
    return short;
  };
  const text = JSON.stringify(body)
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16,64}(?=")|(?<=svc_)\w{4,}/g, counted)
    // Written by the database's clock, which the test cannot stop.
    .replace(/(?<="sourceUpdatedAt":")[^"]+/g, START);
  return JSON.parse(text);
}
