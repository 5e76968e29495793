import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Stub } from "#sdk/stub-server";
import { paged, stubApi, writesOf } from "../test-api.ts";
import { testCommand } from "../test-shell.ts";

const command = testCommand();
const ids = [1, 2, 3].map((n) => `${String(n).repeat(8)}-1111-4111-8111-111111111111`);
let stub: Stub;
let unread: string[];
beforeAll(async () => {
  stub = await stubApi({
    "GET /notifications": (_seen, query) => {
      const rows = ids.map((id) => ({ id, title: id, read: !unread.includes(id) }));
      return paged(query.get("unreadOnly") === "true" ? rows.filter(({ read }) => !read) : rows, query);
    },
    "PATCH /notifications/*": ({ path }) => {
      const id = path.split("/").at(-1) as string;
      return ids.includes(id)
        ? { body: { id, title: id, read: true } }
        : { status: 404, body: { error: "Not found", code: "NOT_FOUND" } };
    },
    "DELETE /notifications": () => ({ body: { success: true, deleted: 3 } }),
  });
});
afterAll(async () => {
  await stub.close();
  command.close();
});
beforeEach(() => {
  unread = ids.slice(0, 2);
  stub.seen.length = 0;
});

const run = (...argv: string[]) =>
  command.run(["notifications", ...argv], { env: { RMM_SERVER: stub.url, RMM_TOKEN: "token-of-ana" } });
const read = () => writesOf(stub).map(({ method, path }) => `${method} ${path.split("/").at(-1)}`);

it("reads one, several, or all that are unread, and tells of each", async () => {
  expect(JSON.parse((await run("read", ids[2] as string, "--json")).stdout)).toMatchObject({ id: ids[2], read: true });
  expect(read()).toEqual([`PATCH ${ids[2]}`]);
  stub.seen.length = 0;
  const several = await run("read", ids[0] as string, ids[2] as string);
  expect([several.code, read()]).toEqual([0, [`PATCH ${ids[0]}`, `PATCH ${ids[2]}`]]);
  stub.seen.length = 0;
  const all = await run("read", "--all");
  expect([all.code, read()]).toEqual([0, unread.map((id) => `PATCH ${id}`)]);
  unread = [];
  stub.seen.length = 0;
  const none = await run("read", "--all");
  expect([none.code, read()]).toEqual([0, []]);
  const mixed = await run("read", ids[0] as string, ids[1] as string, ids[1]!.replace("2", "9"));
  expect(mixed.code).toBe(9);
});

it("refuses ids beside --all, and neither of them", async () => {
  const both = await run("read", ids[0] as string, "--all");
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("Use either --all or ids")]);
  expect((await run("read")).code).toBe(2);
  expect(read()).toEqual([]);
});

it("clears after a question alone", async () => {
  const unasked = await run("clear");
  expect([unasked.code, read()]).toEqual([2, []]);
  expect(unasked.stderr).toContain("--yes");
  expect((await run("clear", "--yes")).code).toBe(0);
  expect(read()).toEqual(["DELETE notifications"]);
});
