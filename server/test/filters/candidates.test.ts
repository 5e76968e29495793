import { afterAll, beforeAll, expect, it } from "vitest";
import type { FilterCondition } from "#contract/core/filters/condition";
import { scoped } from "#server/db/scoped";
import { candidatesFor } from "#server/filters/candidates";
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
  expect(await candidates("AND", [many, few])).toEqual({ driving: new Set([few]) });
  const { ids, driving } = await candidates("AND", [many, few], 1_000);
  expect(driving).toBeUndefined();
  expect(ids?.length).toBeGreaterThan(0);
});

it("reads the devices of each condition of any, and all devices where one of them is not known", async () => {
  const [one, other] = [inGroups(world.groupIds[0] as string), inGroups(world.groupIds[1] as string)];
  expect(await candidates("OR", [one, other])).toEqual({ driving: new Set([one, other]) });
  expect(await candidates("OR", [one, { field: "osType", operator: "equals", value: "linux" }])).toEqual({});
});
