import pg from "pg";
import { expect, it } from "vitest";
import { startTestServer } from "../../test/harness.ts";

it("a column that another replica's migration adds breaks no query for whole rows that ran before", async () => {
  const server = await startTestServer("postgres");
  const { store } = server.services;
  const owner = new pg.Client({ connectionString: store.url });
  try {
    const rows = () => store.connection("system").selectFrom("leases").selectAll().limit(0).execute();
    const changed = () =>
      store
        .connection("system")
        .updateTable("leases")
        .set({ holder: "h" })
        .where("name", "=", "none")
        .returningAll()
        .execute();
    // More than there are connections: each of them has run both.
    const often = () => Promise.all(Array.from({ length: 40 }, async () => [await rows(), await changed()]));
    await often();
    await owner.connect();
    await owner.query("alter table leases add column later text");
    expect((await often()).flat(2)).toEqual([]);
  } finally {
    await owner.end();
    await server.stop();
  }
});
