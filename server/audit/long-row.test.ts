import { expect, it } from "vitest";
import { auditWorlds, entriesOf } from "../test/audit-world.ts";
import { canonicalSpeller } from "./copied-canonical.ts";
import { copiedLines, copyFields, LINE_MAX } from "./postgres-copy.ts";

it("a row that was made longer than any text may be is told as changed, like any other", async () => {
  const world = await auditWorlds.postgres();
  try {
    const [first, second] = entriesOf(2);
    if (!first || !second) throw new Error("no entries");
    await world.append([first, second]);
    // As text it is too long for the memory of the process; every quote takes two bytes more.
    await world.tamper(
      "alter table audit_logs alter column error_message type text",
      `update audit_logs set error_message = repeat('"', 140 * 1024 * 1024) where id = '${first.id}'`,
    );
    const { ok, breaks } = await world.verify({ kind: "organization", id: first.orgId as string });
    expect([ok, breaks.map(({ kind, chainSeq }) => `${kind}@${chainSeq}`)]).toEqual([false, ["content_mismatch@1"]]);
  } finally {
    await world.close();
  }
});

async function* sent(chunks: readonly Buffer[]) {
  yield* chunks;
}

it("of a line that is too long little is kept, and no line is like it; the next ones are whole", async () => {
  const part = Buffer.alloc(LINE_MAX / 4, "x");
  const read: Buffer[] = [];
  const chunks = [
    Buffer.from("a\tb\n1\t"),
    ...Array.from({ length: 12 }, () => part),
    Buffer.from("y\nc\td\ne"),
    Buffer.from("\tf\n"),
  ];
  for await (const lines of copiedLines(sent(chunks))) read.push(Buffer.from(lines));
  const lines = Buffer.concat(read).toString().split("\n");
  expect(lines.length).toBe(5);
  expect([lines[0], lines[2], lines[3], lines[4]]).toEqual(["a\tb", "c\td", "e\tf", ""]);
  expect(lines[1]?.length).toBeLessThan(LINE_MAX * 1.5);
  expect(copyFields(lines[1] ?? "").length).toBeGreaterThan(17);
});

it("canonical bytes of a line that is as long as a line may be are spelled", () => {
  const line = ["0190c0de-0000-7000-8000-00000000000a", "0".repeat(64), "2026-11-30 10:00:00.5+00", "\\N", "\\N"];
  const lines = Buffer.concat([Buffer.from(`${line.join("\t")}\t`), Buffer.alloc(LINE_MAX, '"'), Buffer.from("\n")]);
  expect(canonicalSpeller()(lines, 0, lines.length - 1)?.length).toBeGreaterThan(2 * LINE_MAX);
});
