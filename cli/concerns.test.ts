import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

it("every concern of the command names a test that exists", () => {
  const rows = [...read("cli/README.md").matchAll(/^\| (\d+) \| .+ \| \[`(.+)`\]\(\.\.\/(.+)\): (.+) \|$/gm)];
  expect(rows.map(([, number]) => Number(number))).toEqual(Array.from({ length: 32 }, (_, index) => index + 1));
  for (const [, number, path, link, name] of rows) {
    expect(link, `row ${number}`).toBe(path);
    expect(read(path!), `row ${number}: ${name}`).toContain(`"${name}"`);
  }
});

it("every concern of the SDK does so too", () => {
  const rows = [...read("sdk/README.md").matchAll(/^\| (.+) \| `(.+\.test\.ts)`: (.+) \|$/gm)];
  expect(rows).toHaveLength(19);
  for (const [, concern, path, name] of rows) expect(read(`sdk/${path}`), concern).toContain(name);
});
