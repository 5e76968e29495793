import { expect, it } from "vitest";
import { auditWorlds, entriesOf } from "../test/audit-world.ts";

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
