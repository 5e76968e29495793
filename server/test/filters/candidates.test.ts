import type { CompiledQuery } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { FilterCondition } from "#contract/core/filters/condition";
import { scoped } from "#server/db/scoped";
import { candidatesFor } from "#server/filters/candidates";
import { finderOf } from "#server/filters/find-devices";
import { startTestServer, type TestServer } from "../harness.ts";
import { makeWorld, type World } from "./world.ts";

let server: TestServer;
let world: World;

beforeAll(async () => {
  server = await startTestServer("sqlite");
  world = await makeWorld(server, 60, 1);
});
afterAll(() => server?.stop());

const inGroups = (...value: string[]): FilterCondition => ({ field: "groupId", operator: "in", value });

async function candidates(operator: "AND" | "OR", conditions: readonly FilterCondition[], most = 0) {
  const scope = { kind: "system" } as const;
  const { store } = server.services;
  const indexes = { db: scoped(store.connection("system"), scope), scope, dialect: store.dialect, orgId: undefined };
  const groups = new Set(world.groupIds);
  return candidatesFor({ ...indexes, groups }, { operator, conditions: [...conditions] }, most);
}

it("reads the devices of the smallest condition of all, where they are too many to name", async () => {
  const [few, many] = [inGroups(world.groupIds[0] as string), inGroups(...world.groupIds)];
  const found = await candidates("AND", [many, few]);
  expect([found.ids, await found.driving?.()]).toEqual([undefined, new Set([few])]);
  const { ids, driving } = await candidates("AND", [many, few], 1_000);
  expect(driving).toBeUndefined();
  expect(ids?.length).toBeGreaterThan(0);
});

it("reads the devices of each condition of any, and all devices where one of them is not known", async () => {
  const [one, other] = [inGroups(world.groupIds[0] as string), inGroups(world.groupIds[1] as string)];
  const { driving } = await candidates("OR", [one, other]);
  expect(await driving?.()).toEqual(new Set([one, other]));
  expect(await candidates("OR", [one, { field: "osType", operator: "equals", value: "linux" }])).toEqual({});
});

it("counts the devices of such a condition by their ids, and looks for each device among the others", async () => {
  const [few, many] = [inGroups(world.groupIds[0] as string), inGroups(...world.groupIds)];
  const scope = { kind: "system" } as const;
  const { store } = server.services;
  const db = scoped(store.connection("system"), scope);
  const statements: string[] = [];
  const execute = db.executeQuery.bind(db);
  db.executeQuery = ((query: CompiledQuery) => {
    statements.push(query.sql);
    return execute(query);
  }) as typeof execute;
  const finding = { db, scope, dialect: store.dialect, now: server.clock.now(), orgId: undefined, fewest: 0 };
  const { count, walk } = await finderOf(finding, { operator: "AND", conditions: [few, many] });
  await walk(undefined, 1);
  const before = statements.length;
  await count();
  const [howMany, total] = statements.slice(before) as [string, string];
  // A page alone needs no numbers.
  expect([before, statements.length]).toEqual([2, 4]);
  expect(howMany).toContain("limit 25001");
  expect(total.match(/(\+?)"devices"."id" in \(select "device_group_members"/g)).toEqual([
    expect.stringMatching(/^"devices"/),
    expect.stringMatching(/^\+"devices"/),
  ]);
});
