import { describe, expect, it } from "vitest";
import { KEPT_MAX, mergeThreats, type StoredThreat, type ThreatFacts } from "./rules.ts";

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const threat = (rawStatus: ThreatFacts["rawStatus"], minute = 0, more: Partial<ThreatFacts> = {}): ThreatFacts => ({
  ...{ externalId: null, providerId: null, name: "Trojan", category: null, severity: "high", filePath: "C:\\a" },
  ...{ rawStatus, detectedAt: at(minute), ...more },
});
const stored = (facts: ThreatFacts, id = "1"): StoredThreat => ({ id, ...facts });

/** The rows after a report. */
function rowsAfter(before: readonly StoredThreat[], report: readonly ThreatFacts[]): StoredThreat[] {
  const { added, changed, dropped } = mergeThreats(before, report);
  const kept = before.filter(({ id }) => !dropped.includes(id));
  const now = kept.map((row) => changed.find((one) => one.after.id === row.id)?.after ?? row);
  return [...now, ...added.map((facts, index) => ({ id: `new ${before.length + index}`, ...facts }))];
}
const shown = (rows: readonly StoredThreat[]) => rows.map(({ rawStatus, detectedAt }) => [rawStatus, detectedAt]);

describe("a threat", () => {
  it("that is open is one row, however often it is found", () => {
    const rows = rowsAfter([], [threat("detected", 1), threat("detected", 2), threat("failed", 3)]);
    expect(shown(rows)).toEqual([["failed", at(3)]]);
    expect(shown(rowsAfter(rows, [threat("quarantined", 4)]))).toEqual([["quarantined", at(4)]]);
  });

  it("of another name, or path, is another one", () => {
    const others = [threat("detected", 0, { name: "Worm" }), threat("detected", 0, { filePath: null })];
    expect(rowsAfter([stored(threat("detected"))], others)).toHaveLength(3);
  });

  it("that is found again after its end is a new one, and its end does not end the new one", () => {
    const history = [threat("detected", 5), threat("removed", 1)];
    const rows = rowsAfter([stored(threat("removed", 1))], history);
    expect(shown(rows)).toEqual([
      ["removed", at(1)],
      ["detected", at(5)],
    ]);
  });

  it("that ends leaves nothing that counts, one that is allowed counts", () => {
    const open = [stored(threat("detected"))];
    expect(mergeThreats(open, []).inEffect).toBe(1);
    expect(mergeThreats(open, [threat("removed", 2)]).inEffect).toBe(0);
    expect(mergeThreats(open, [threat("quarantined", 2)]).inEffect).toBe(0);
    expect(mergeThreats(open, [threat("allowed", 2)]).inEffect).toBe(1);
  });

  it("keeps what a later report leaves out", () => {
    const known = threat("detected", 0, { externalId: "7", category: "pup", providerId: "os_builtin" });
    const [row] = rowsAfter([stored(known)], [threat("quarantined")]);
    expect(row).toMatchObject({ externalId: "7", category: "pup", providerId: "os_builtin", rawStatus: "quarantined" });
  });
});

it("the same report again changes nothing, in any order", () => {
  const report = [
    threat("detected", 1),
    threat("removed", 1),
    threat("allowed", 2),
    threat("detected", 3),
    threat("quarantined", 3, { name: "Worm" }),
    threat("removed", 3, { filePath: null }),
  ];
  const rows = rowsAfter([], report);
  for (const again of [report, rowsAfter(rows, report), report.toSorted((a, b) => (a.name < b.name ? 1 : -1))])
    expect(mergeThreats(rows, again)).toMatchObject({ added: [], changed: [], dropped: [] });
});

it("of a device no more are kept than may be: open ones beyond are not taken, removed ones give way by age", () => {
  const many = (rawStatus: ThreatFacts["rawStatus"]) =>
    Array.from({ length: KEPT_MAX + 5 }, (_, minute) => threat(rawStatus, minute, { name: `${rawStatus} ${minute}` }));
  const open = mergeThreats([], many("detected"));
  expect([open.added.length, open.inEffect]).toEqual([KEPT_MAX, KEPT_MAX]);
  const full = open.added.map((facts, index) => stored(facts, String(index)));
  const more = mergeThreats(full, [threat("detected", 9_000, { name: "late" }), threat("removed", 0)]);
  expect(more.added).toEqual([threat("removed", 0)]);
  const first = full[0] as StoredThreat;
  const room = mergeThreats(full, [threat("removed", 1, { name: first.name }), threat("detected", 9_000)]);
  expect([room.added.length, room.changed.length]).toEqual([1, 1]);
  const removed = rowsAfter([], many("removed"));
  expect([removed.length, removed.at(0)?.detectedAt]).toEqual([KEPT_MAX, at(5)]);
  const newer = mergeThreats(removed, [threat("removed", 9_000, { name: "newest" })]);
  expect([newer.added.length, newer.dropped]).toEqual([1, [removed[0]?.id]]);
  // What gave way does not come back with the next report of a whole history.
  expect(mergeThreats(removed, many("removed"))).toMatchObject({ added: [], changed: [], dropped: [] });
});
