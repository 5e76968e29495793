import { expect, it } from "vitest";
import { InstalledPatchReport, PendingPatchReport } from "#contract/resources/software/patches";
import { machineAt } from "#fixtures/simulators/agent/machines";
import { patchesOf } from "#fixtures/simulators/agent/patches";
import { DAY } from "#server/platform/clock";
import { type Facts, reportedRows } from "./rules.ts";

const START = Date.parse("2026-11-01T00:00:00Z");

it.each(["windows", "macos", "linux"] as const)("a simulated machine with %s gets patches and installs them", (os) => {
  const machine = machineAt("drift", 3, { [os]: 1 });
  let stored = new Map<string, Facts>();
  const seen = { began: 0, installed: 0, unchanged: 0 };
  for (let day = 0; day < 120; day += 1) {
    const { pending, installed, full } = patchesOf(machine, START + day * DAY);
    // Every fact is well-formed: nothing is left out of what is sent.
    const report = {
      pending: pending.map((item) => ({ ...item, ...PendingPatchReport().parse(item) })),
      installed: installed.map((item) => ({ ...item, ...InstalledPatchReport().parse(item) })),
      full,
    };
    expect(report.pending.map(({ severity }) => severity)).not.toContain(undefined);
    const rows = reportedRows(report, stored);
    let changes = 0;
    for (const [id, { facts }] of rows) {
      const before = stored.get(id)?.status;
      if (before !== facts.status) changes += 1;
      if (day > 0 && before !== "pending" && facts.status === "pending") seen.began += 1;
      if (before === "pending" && facts.status === "installed") seen.installed += 1;
    }
    if (changes === 0) seen.unchanged += 1;
    stored = new Map([...stored, ...[...rows].map(([id, { facts }]) => [id, facts] as const)]);
  }
  expect(seen.began).toBeGreaterThan(3);
  expect(seen.installed).toBeGreaterThan(3);
  expect(seen.unchanged).toBeGreaterThan(60);
});
