import { describe, expect, it } from "vitest";
import type { Context } from "../../context.ts";
import type { ItemResult } from "../../provisioning/item-result.ts";
import type { Plan } from "../../provisioning/plan.ts";
import { checkResultFields, resultPrinter } from "./result-printer.ts";

const plan = { organizations: [{ keys: [{ key: { sink: { kind: "stdout" } } }] }] } as unknown as Plan;
const minted = { organization: "harbor", kind: "key", name: "office", action: "create", outcome: "done" } as const;
const results = [{ ...minted, fields: [], secret: "new-secret" }] as unknown as ItemResult[];

/** What is printed for `--json` and similar flags, and what goes to stderr. */
function context(globals: Record<string, unknown>) {
  const told = { stdout: "", notices: [] as string[] };
  const stream = (text: string, done: () => void) => {
    told.stdout += text;
    done();
  };
  const shell = {
    stdout: {
      write: (text: string, done: () => void) => stream(text, done),
      once: () => undefined,
      off: () => undefined,
    },
    isTty: { stdin: false, stdout: false, stderr: false },
    env: {},
    secrets: new Set(),
  };
  const made = {
    shell,
    globals: { given: {}, ...globals },
    settings: {},
    hasChanged: () => true,
    notice: async (text: string) => void told.notices.push(text),
  };
  return { told, made: made as unknown as Context };
}

describe("the result of apply", () => {
  it("is refused beforehand where the chosen fields leave the new secrets out", async () => {
    const check = (globals: Record<string, unknown>) => checkResultFields(context(globals).made, plan);
    await expect(check({ json: true, jsonFields: ["summary"] })).rejects.toThrow("not be shown anywhere");
    await expect(check({ json: true, jsonFields: ["nothing"] })).rejects.toThrow("no such field");
    await expect(check({ jq: ".summary" })).rejects.toThrow("not be shown anywhere");
    await check({ json: true, jsonFields: ["items"] });
    await check({ jq: ".items[].secret" });
    await check({ json: true });
  });

  it("lists no item that Ctrl-C left, on a terminal", async () => {
    const { told, made } = context({ columns: ["x"], given: {} });
    Object.assign(made.shell.isTty, { stdout: true });
    const printer = resultPrinter(made, { organizations: [] } as unknown as Plan);
    const item = { line: 1, name: "HQ" };
    const about = { ...minted, kind: "site", item, changes: [] } as unknown as ItemResult;
    await printer.item(about);
    await printer.item({ ...about, outcome: "skipped", error: { code: "INTERRUPTED", message: "" } });
    await printer.item({ ...about, outcome: "failed", error: { code: "X", message: "no", hint: "`rmm auth login`" } });
    expect(told.stdout.split("\n").filter(Boolean)).toHaveLength(2);
    expect(told.stdout).toMatch(/failed .*HQ/);
  });

  it("says how to fetch secrets that a filter did not let through", async () => {
    const filtered = context({ jq: ".summary" });
    const more = { budget: {}, notes: [], none: false } as unknown as Parameters<
      ReturnType<typeof resultPrinter>["end"]
    >[1];
    await resultPrinter(filtered.made, { organizations: [] } as unknown as Plan).end(results, more);
    expect(filtered.told.stdout).not.toContain("new-secret");
    expect(filtered.told.notices.join()).toContain("--redeliver");
    const whole = context({ json: true });
    await resultPrinter(whole.made, { organizations: [] } as unknown as Plan).end(results, more);
    expect(whole.told.stdout).toContain("new-secret");
    expect(whole.told.notices).toEqual([]);
  });
});
