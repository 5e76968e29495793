import { describe, expect, it } from "vitest";
import { sources } from "./sources.ts";
import { writerFaults } from "./writers.ts";

const file = (path: string, text: string) => ({ path, text });

describe("one writer per table", () => {
  it.each([
    ["an insert", 'tx.insertInto("sites").values(row).execute()'],
    ["an update on lines of its own", 'tx\n  .updateTable(\n    "sites",\n  ).set({ name })'],
    ["a deletion under an alias", 'tx.deleteFrom("sites as s").where("s.id", "=", id)'],
    ["a statement in text", "sql`delete from sites where id = $" + "{id}`"],
  ])("finds a second writer planted in the tree: %s", async (_, statement) => {
    const planted = file("server/features/fleet/agents/planted.ts", statement);
    expect(await writerFaults([...sources(), planted])).toEqual([
      "server/features/fleet/agents/planted.ts writes to sites, which tenancy/sites alone writes",
    ]);
  });

  it.each([
    "server/bootstrap.ts",
    "server/access/roles.ts",
    "server/db/paginate.ts",
    "server/features/tenancy/core/close.ts",
  ])("a file outside the table's room is no part of it: %s", async (path) => {
    expect(await writerFaults([file(path, 'tx.deleteFrom("sites")')])).toHaveLength(1);
  });

  it("lets the room itself write, every room read, and tests do both", async () => {
    expect(
      await writerFaults([
        file("server/features/tenancy/sites/update.ts", 'tx.updateTable("sites")'),
        file("server/features/fleet/agents/enroll.ts", 'tx.selectFrom("sites").innerJoin("devices")'),
        file("server/features/fleet/agents/enroll.test.ts", 'tx.deleteFrom("sites")'),
        file("server/test/harness.ts", 'tx.deleteFrom("sites")'),
        file("cli/commands/delete.ts", "delete from sites"),
      ]),
    ).toEqual([]);
  });

  it.each([
    ["by its text", 'tx["insertInto"]("sites")'],
    ["by a text that is kept", 'const verb = "deleteFrom"; tx[verb]("sites")'],
    ["by a text that is put together", 'tx["insert" + "Into"]("sites")'],
    ["by a text, of something cast", '(tx as any)["insert" + "Into"]("sites")'],
    ["by a text, where there may be none", 'db?.["update" + "Table"]("sites")'],
    ["taken out of its connection", 'const { updateTable } = tx; updateTable("sites")'],
    ["taken out under another name", 'const { deleteFrom: purge } = tx; purge("sites")'],
    ["given to a name", 'const write = tx.insertInto; write("sites")'],
    ["bound", 'const write = tx.insertInto.bind(tx); write("sites")'],
  ])("finds a statement that hides its table: %s", async (_, statement) => {
    const planted = file("server/features/fleet/agents/planted.ts", statement);
    const faults = await writerFaults([...sources(), planted]);
    expect(faults.length).toBeGreaterThan(0);
    for (const fault of faults) expect(fault).toMatch(/planted\.ts (uses \w+ otherwise|calls \w+ by a computed)/);
  });

  it("does not take a table that cannot be read from the text", async () => {
    expect(await writerFaults([file("server/jobs/purge.ts", "for (const table of all) db.deleteFrom(table)")])).toEqual(
      ["server/jobs/purge.ts writes to a table that deleteFrom() does not name"],
    );
    expect(await writerFaults([file("server/jobs/purge.ts", 'db.deleteFrom("nothing")')])).toEqual([
      "server/jobs/purge.ts writes to the unknown table nothing",
    ]);
  });
});
